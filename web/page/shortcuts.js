// The keyboard of the page: space and enter call, M mutes, H holds, escape closes the large net.

import { closest } from "./elements.js";

/**
 * @param {object} parts
 * @param {import("./call-controls.js").CallControls} parts.controls
 * @param {import("./call-modes.js").CallModes} parts.modes
 * @param {import("./push-to-talk.js").PushToTalk} parts.push
 * @param {import("./net-view.js").NetView} parts.net
 */
export function addShortcuts({ controls, modes, push, net }) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const isInteractive = closest(event.target, "a, button, input, select, summary, textarea") !== null;
    const isTalkKey = event.key === " " || event.key === "Enter";
    if (event.repeat && isTalkKey && isInteractive) event.preventDefault(); // a held key would call again and again
    if (event.repeat) return;
    if (event.key === "Escape") net.setLarge(false);
    const isTyping = closest(event.target, "input, select, textarea") !== null;
    if (event.key.toLowerCase() === "m" && !isTyping) controls.toggleMute();
    if (event.key.toLowerCase() === "h" && !isTyping) modes.toggleHold();
    if (isTalkKey && !isInteractive) {
      event.preventDefault();
      if (event.key === " " && push.isWanted) push.hold(true);
      else controls.toggleCall();
    }
  });
  document.addEventListener("keyup", ({ key }) => key === " " && push.hold(false));
}
