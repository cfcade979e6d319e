// The badge that says where the caller's audio goes.

/**
 * @param {HTMLElement} badge
 * @param {import("../client/index.js").Ready["model"]} model as the gateway names it
 */
export function showModel(badge, model) {
  badge.hidden = false;
  badge.dataset.kind = !model?.name ? "unknown" : model.embedded ? "embedded" : "other";
  if (!model?.name) badge.textContent = "the gateway does not say where audio goes";
  else if (model.embedded) badge.textContent = "embedded model \u2013 nothing leaves this machine";
  else badge.textContent = `audio goes to the model ${model.name}`;
}
