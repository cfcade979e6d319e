// A voice call with a voicegw gateway, for any page:
//
//   import { VoiceClient } from "https://gateway.example/client.js";
//   const call = new VoiceClient();
//   call.on("transcript", ({ who, text }) => console.log(who, text));
//   button.onclick = () => call.start();
//
// index.d.ts has the types of everything that is exported here.

export { VoiceError } from "./errors.js";
export { VoiceClient } from "./voice-client.js";
export { connectWebRTC } from "./webrtc-connection.js";
