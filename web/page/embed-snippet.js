// The lines that put the client into another page, to copy.

import { byId } from "./elements.js";

const SHOWN_MS = 2_000; // that they were copied

/**
 * Shows the lines for the gateway with this address.
 * @param {string} url of its WebSocket
 */
export function showSnippet(url) {
  const lines = `<button id="talk">Talk</button>
<script type="module">
  import { VoiceClient } from "${new URL("./client.js", document.baseURI).href}";
  const call = new VoiceClient({ url: "${url.replace(/^http/, "ws")}" });
  talk.onclick = () => (call.state === "live" ? call.end() : call.start());</script>`;
  const snippet = byId("snippet", HTMLElement);
  const button = byId("copy", HTMLElement);
  snippet.textContent = lines;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(lines);
      button.textContent = "Copied";
    } catch {
      getSelection()?.selectAllChildren(snippet);
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy"), SHOWN_MS);
  });
}
