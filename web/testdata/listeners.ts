// What TypeScript must know of a listener, and what it must refuse.
import { VoiceClient } from "voicegw";

const call = new VoiceClient({ token: undefined, detection: "push", onToolCall: ({ name, signal }) => [name, signal.aborted] });

call.on("transcript", ({ who, text, final }) => console.log(who.length, text.length, final === true));
call.addEventListener("transcript", (event) => console.log(event.detail.text.length), { once: true });
call.addEventListener("end", { handleEvent: ({ detail }) => console.log(detail.normal === true) });
const muted = (event: CustomEvent<{ on: boolean }>) => console.log(event.detail.on);
call.addEventListener("mute", muted);
call.removeEventListener("mute", muted);

// @ts-expect-error: there is no such event
call.addEventListener("transcripts", () => {});
// @ts-expect-error: it has no such detail
call.addEventListener("mute", (event) => console.log(event.detail.off));
// @ts-expect-error: it is one of three words
call.configure({ detection: "psychic" });
