// Ties the page together: views, settings, the model's name.
import { startChat } from "./chat.js";
import { startLive } from "./live.js";
import { headers, loadSettings, saveSettings } from "./settings.js";

const byId = (id) => document.getElementById(id);

function show(view) {
  for (const name of ["chat", "live"]) byId(name).hidden = name !== view;
  for (const button of document.querySelectorAll("[data-view]"))
    button.setAttribute("aria-pressed", String(button.dataset.view === view));
  live.active = view === "live";
  if (live.active) live.look().catch(() => {});
  if (view === "chat") byId("text").focus();
}

async function showModel() {
  try {
    const answer = await fetch("v1/models", { headers: headers() });
    byId("model").textContent = answer.ok ? (await answer.json()).data[0].id : answer.status === 401 ? "needs an API key" : "loading";
    if (!answer.ok && answer.status !== 401) setTimeout(showModel, 1000);
  } catch {
    byId("model").textContent = "not reachable";
  }
}

const live = startLive();
for (const button of document.querySelectorAll("[data-view]")) button.addEventListener("click", () => show(button.dataset.view));
byId("open-settings").addEventListener("click", () => {
  loadSettings();
  byId("settings").showModal();
});
byId("settings").addEventListener("close", () => {
  saveSettings();
  showModel();
});
document.addEventListener("keydown", (event) => {
  if (!event.altKey || event.ctrlKey || event.metaKey) return;
  const view = { Digit1: "chat", Digit2: "live" }[event.code];
  if (view) {
    event.preventDefault();
    show(view);
  } else if (event.code === "KeyN") {
    event.preventDefault();
    show("chat");
    byId("new-chat").click();
  }
});
startChat();
showModel();
show("chat");
