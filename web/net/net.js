// The page of one running net: NetPage in netpage.go serves it.

import { NetView } from "../page/net-view.js";

/** @param {string} id */
const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

const state = element("state");
const view = new NetView({
  panel: element("net"),
  viewer: element("viewer"),
  tools: element("tools"),
  size: element("size"),
});

const events = new EventSource(`./events${location.search}`);
events.addEventListener("open", () => (state.textContent = "Live"));
events.addEventListener("error", () => {
  state.textContent = events.readyState === EventSource.CLOSED ? "Not available" : "Reconnecting";
});
events.addEventListener("graph", ({ data }) => view.show(JSON.parse(data)));
events.addEventListener("net", ({ data }) => view.mark(JSON.parse(data)));
events.addEventListener("over", ({ data }) => {
  events.close();
  state.textContent = JSON.parse(data);
});
