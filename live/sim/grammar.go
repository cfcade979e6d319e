package sim

// kind is the type of a JSON value.
type kind uint8

const (
	anything kind = iota
	text
	boolean
	number
	blob // base64
	list // of elem
	message
)

// node describes a JSON value.
type node struct {
	kind   kind
	elem   *node
	fields fields
}

type fields map[string]*node

func leaf(k kind) *node          { return &node{kind: k} }
func listOf(elem *node) *node    { return &node{kind: list, elem: elem} }
func object(fields fields) *node { return &node{kind: message, fields: fields} }

// clientGrammar returns the grammar of all messages that a client of the Gemini API may send, as
// genai v1.77.0 sends them.
func clientGrammar() *node {
	inlineData := object(fields{"data": leaf(blob), "mimeType": leaf(text), "displayName": leaf(text)})
	part := object(fields{
		"text": leaf(text), "inlineData": inlineData, "fileData": leaf(anything), "thought": leaf(boolean),
		"thoughtSignature": leaf(blob), "functionCall": leaf(anything), "functionResponse": leaf(anything),
		"executableCode": leaf(anything), "codeExecutionResult": leaf(anything), "videoMetadata": leaf(anything),
		"mediaResolution": leaf(anything), "partMetadata": leaf(anything),
	})
	content := object(fields{"role": leaf(text), "parts": listOf(part)})
	tool := toolGrammar()
	return object(fields{
		"setup": setupGrammar(content, tool),
		"clientContent": object(fields{
			"turns": listOf(content), "turnComplete": leaf(boolean),
		}),
		"realtimeInput": object(fields{
			"audio": inlineData, "video": inlineData, "text": leaf(text), "mediaChunks": listOf(inlineData),
			"activityStart": object(nil), "activityEnd": object(nil), "audioStreamEnd": leaf(boolean),
		}),
		"toolResponse": object(fields{"functionResponses": listOf(object(fields{
			"id": leaf(text), "name": leaf(text), "response": leaf(anything), "scheduling": leaf(text),
			"willContinue": leaf(boolean), "parts": leaf(anything),
		}))}),
		"contextUpdate": object(fields{
			"systemInstruction": content, "tools": object(fields{"tools": listOf(tool)}),
		}),
	})
}

func toolGrammar() *node {
	return object(fields{
		"functionDeclarations": listOf(object(fields{
			"name": leaf(text), "description": leaf(text), "behavior": leaf(text), "parameters": leaf(anything),
			"parametersJsonSchema": leaf(anything), "response": leaf(anything), "responseJsonSchema": leaf(anything),
		})),
		"googleSearch": leaf(anything), "googleSearchRetrieval": leaf(anything), "codeExecution": leaf(anything),
		"urlContext": leaf(anything), "googleMaps": leaf(anything), "computerUse": leaf(anything),
		"fileSearch": leaf(anything), "mcpServers": leaf(anything),
	})
}

func setupGrammar(content, tool *node) *node {
	transcription := object(fields{
		"languageCodes": listOf(leaf(text)), "languageAuto": leaf(anything), "languageHints": leaf(anything),
		"customVocabulary": listOf(leaf(text)), "adaptationPhrases": listOf(leaf(text)),
		"diarization": leaf(boolean), "wordTimestamp": leaf(boolean), "mode": leaf(text),
	})
	return object(fields{
		"model":             leaf(text),
		"generationConfig":  generationGrammar(),
		"systemInstruction": content,
		"tools":             listOf(tool),
		"realtimeInputConfig": object(fields{
			"automaticActivityDetection": object(fields{
				"disabled": leaf(boolean), "startOfSpeechSensitivity": leaf(text), "endOfSpeechSensitivity": leaf(text),
				"prefixPaddingMs": leaf(number), "silenceDurationMs": leaf(number),
			}),
			"activityHandling": leaf(text), "turnCoverage": leaf(text),
			"interimTranscriptTimestampEnabled": leaf(boolean),
		}),
		"sessionResumption": object(fields{"handle": leaf(text), "transparent": leaf(boolean)}),
		"contextWindowCompression": object(fields{
			"triggerTokens": leaf(number), "slidingWindow": object(fields{"targetTokens": leaf(number)}),
		}),
		"inputAudioTranscription":  transcription,
		"outputAudioTranscription": transcription,
		"proactivity":              object(fields{"proactiveAudio": leaf(boolean)}),
		"historyConfig":            object(fields{"initialHistoryInClientContent": leaf(boolean)}),
		"safetySettings": listOf(object(fields{
			"category": leaf(text), "threshold": leaf(text), "method": leaf(text),
		})),
		"labels": leaf(anything),
		"avatarConfig": object(fields{
			"avatarName": leaf(text), "customizedAvatar": leaf(anything), "audioBitrateBps": leaf(number),
			"videoBitrateBps": leaf(number),
		}),
		"explicitVadSignal": leaf(boolean),
	})
}

func generationGrammar() *node {
	return object(fields{
		"responseModalities": listOf(leaf(text)),
		"speechConfig": object(fields{
			"languageCode": leaf(text),
			"voiceConfig": object(fields{
				"prebuiltVoiceConfig":   object(fields{"voiceName": leaf(text)}),
				"replicatedVoiceConfig": leaf(anything),
			}),
		}),
		"temperature": leaf(number), "topP": leaf(number), "topK": leaf(number), "maxOutputTokens": leaf(number),
		"candidateCount": leaf(number), "seed": leaf(number), "mediaResolution": leaf(text),
		"presencePenalty": leaf(number), "frequencyPenalty": leaf(number), "stopSequences": listOf(leaf(text)),
		"thinkingConfig": object(fields{
			"thinkingBudget": leaf(number), "includeThoughts": leaf(boolean), "thinkingLevel": leaf(text),
		}),
		"enableAffectiveDialog": leaf(boolean), "translationConfig": leaf(anything),
	})
}
