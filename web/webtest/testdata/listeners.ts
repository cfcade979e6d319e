// What TypeScript must know of a listener, and what it must refuse.
import { VoiceClient, type Turn, type VoiceEvents } from "voicegw";

const call = new VoiceClient({ token: undefined, detection: "push", onToolCall: ({ name, signal }) => [name, signal.aborted] });

call.on("transcript", ({ who, text, final }) => console.log(who.length, text.length, final === true));
call.addEventListener("transcript", (event) => console.log(event.detail.text.length), { once: true });
call.addEventListener("end", { handleEvent: ({ detail }) => console.log(detail.normal === true) });
const muted = (event: CustomEvent<{ on: boolean }>) => console.log(event.detail.on);
call.addEventListener("mute", muted);
call.removeEventListener("mute", muted);
const said = ({ turns, changed }: VoiceEvents["turns"]) => console.log(turns.length, changed?.text, changed?.cutAt);
call.on("turns", said);
call.off("turns", said);
const texts: string[] = call.turns.map((turn: Turn) => turn.text);

const own: { microphone?: MediaStream; outputId?: string; volume?: number } = {};
call.configure({ ...own, microphone: undefined });
call.setMicrophone(new MediaStream()).then(() => call.setOutput(""));
VoiceClient.outputs().then((list) => console.log(list[0]?.label, call.levels.caller + call.volume));

// @ts-expect-error: there is no such event
call.addEventListener("transcripts", () => {});
// @ts-expect-error: it has no such detail
call.addEventListener("mute", (event) => console.log(event.detail.off));
// @ts-expect-error: a turn is not changed, but replaced
call.turns[0]!.text = texts[0]!;
// @ts-expect-error: the listener is one of another event
call.off("mute", said);
// @ts-expect-error: it is none of the three values
call.configure({ detection: "psychic" });
