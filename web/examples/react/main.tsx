// A call in React: a button, the conversation, a field for text, and a tool that changes the page.
import { StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import type { Turn } from "voicegw";
import { useVoice } from "voicegw/react";

const GATEWAY = "http://localhost:8080/v1/voice";

function Call() {
  const [colour, setColour] = useState("white");
  const { state, turns, muted, modelSpeaking, error, start, end, mute, sendText } = useVoice({
    url: GATEWAY,
    tools: {
      paint_page: ({ colour: next }: { colour: string }) => {
        setColour(next);
        return { before: colour };
      },
    },
  });
  const isBusy = state === "live" || state === "connecting";
  return (
    <div style={{ background: colour }}>
      <button id="talk" onClick={() => (isBusy ? end() : start())} disabled={state === "ending"}>
        {isBusy ? "Hang up" : "Talk"}
      </button>
      <button id="mute" onClick={() => mute(!muted)}>
        {muted ? "Unmute" : "Mute"}
      </button>
      <p id="state">{modelSpeaking ? "The model is speaking." : state}</p>
      {error && (
        <p role="alert">
          {error.message} {error.advice}
        </p>
      )}
      <div id="transcript">
        {turns.map((turn) => (
          <Line key={turn.id} turn={turn} />
        ))}
      </div>
      <TextField onText={sendText} />
    </div>
  );
}

function Line({ turn: { who, text, cutAt } }: { turn: Turn }) {
  return (
    <p className={who}>
      {text.slice(0, cutAt ?? text.length)}
      {cutAt !== null && <s>{text.slice(cutAt)}</s>}
    </p>
  );
}

function TextField({ onText }: { onText: (text: string) => boolean }) {
  const [text, setText] = useState("");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "" && onText(text)) setText("");
      }}
    >
      <input id="text" value={text} maxLength={4000} onChange={(event) => setText(event.target.value)} aria-label="Text" />
    </form>
  );
}

const app = document.querySelector("#app");
if (app) {
  createRoot(app).render(
    <StrictMode>
      <Call />
    </StrictMode>,
  );
}
