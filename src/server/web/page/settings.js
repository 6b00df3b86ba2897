// Settings, kept in this browser.
const FIELDS = ["system", "temperature", "top-p", "max-tokens", "seed", "key", "theme"];
let settings = JSON.parse(localStorage.getItem("quire.settings") ?? "{}");

const dark = matchMedia("(prefers-color-scheme: dark)");
function showTheme() {
  document.documentElement.dataset.theme = settings.theme || (dark.matches ? "dark" : "light");
}
dark.addEventListener("change", showTheme);
showTheme();

export function loadSettings() {
  for (const name of FIELDS) document.getElementById(name).value = settings[name] ?? "";
}

export function saveSettings() {
  settings = Object.fromEntries(FIELDS.map((name) => [name, document.getElementById(name).value]));
  localStorage.setItem("quire.settings", JSON.stringify(settings));
  showTheme();
}

export function headers() {
  return settings.key ? { Authorization: "Bearer " + settings.key } : {};
}

/** The fields of a chat request that the settings decide. */
export function requestFields() {
  const fields = {};
  if (settings.temperature) fields.temperature = Number(settings.temperature);
  if (settings["top-p"]) fields.top_p = Number(settings["top-p"]);
  if (settings["max-tokens"]) fields.max_tokens = Number(settings["max-tokens"]);
  if (settings.seed) fields.seed = Number(settings.seed);
  return fields;
}

export const systemMessage = () => settings.system ?? "";
