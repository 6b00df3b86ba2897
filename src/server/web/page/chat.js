// The chat: several conversations, streamed answers, stop and again.
import { events } from "./events.js";
import { markdown } from "./markdown.js";
import { headers, requestFields, systemMessage } from "./settings.js";
import * as store from "./store.js";

const byId = (id) => document.getElementById(id);
let current = store.all()[0] ?? store.create();
let running = null; // the AbortController of the answer under way
let answering = null; // and its message

function messageNode(message) {
  const node = document.createElement("article");
  node.className = "message " + message.role;
  fill(node, message);
  return node;
}

function fill(node, message) {
  if (message.role === "user") {
    node.textContent = message.content;
    return;
  }
  const parts = [];
  if (message.reasoning) {
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    summary.textContent = "Thinking";
    details.open = node.querySelector("details")?.open ?? false;
    details.append(summary, message.reasoning);
    parts.push(details);
  }
  node.replaceChildren(...parts, ...markdown(message.content));
  node.classList.toggle("waiting", message === answering);
}

function welcome() {
  const node = document.createElement("p");
  node.className = "welcome";
  node.textContent = "Ask something. Conversations stay in this browser.";
  return node;
}

const HINT = "Enter sends, Shift+Enter is a new line, Esc stops";
function note(text, kind = "") {
  byId("note").textContent = text;
  byId("note").className = kind;
}

/** As high as its text, up to what the style allows. */
function fitText() {
  const text = byId("text");
  text.style.height = "auto";
  text.style.height = text.scrollHeight + 2 + "px";
}

function showList() {
  byId("conversations").replaceChildren(...store.all().map((conversation) => {
    const item = document.createElement("li");
    const open = document.createElement("button");
    const remove = document.createElement("button");
    open.type = remove.type = "button";
    open.textContent = conversation.title;
    remove.textContent = "\u00d7";
    remove.setAttribute("aria-label", "Delete " + conversation.title);
    open.addEventListener("click", () => select(conversation));
    remove.addEventListener("click", () => {
      store.remove(conversation);
      if (conversation === current) select(store.all()[0] ?? store.create());
      else showList();
    });
    item.append(open, remove);
    item.setAttribute("aria-current", String(conversation === current));
    return item;
  }));
}

function select(conversation) {
  running?.abort();
  current = conversation;
  byId("messages").replaceChildren(...(current.messages.length ? current.messages.map(messageNode) : [welcome()]));
  byId("messages").scrollTop = byId("messages").scrollHeight;
  note(HINT);
  showButtons();
  showList();
  byId("text").focus();
}

function showButtons() {
  byId("stop").hidden = running === null;
  byId("send").hidden = running !== null;
  byId("again").hidden = running !== null || current.messages.length === 0;
}

async function answer() {
  const conversation = current;
  const messages = conversation.messages.map(({ role, content }) => ({ role, content }));
  if (systemMessage()) messages.unshift({ role: "system", content: systemMessage() });
  const message = { role: "assistant", content: "", reasoning: "" };
  conversation.messages.push(message);
  answering = message;
  const node = messageNode(message);
  const log = byId("messages");
  let draw = null;  // an answer may come faster than a screen shows it
  const show = () => {
    draw = null;
    const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 60;
    fill(node, message);
    if (atEnd) log.scrollTop = log.scrollHeight;
  };
  log.append(node);
  log.scrollTop = log.scrollHeight;
  running = new AbortController();
  const mine = running;
  showButtons();
  note("\u2026");
  try {
    const response = await fetch("v1/chat/completions", {
      method: "POST",
      signal: mine.signal,
      headers: { "Content-Type": "application/json", ...headers() },
      body: JSON.stringify({ messages, stream: true, stream_options: { include_usage: true }, ...requestFields() }),
    });
    for await (const event of events(response)) {
      const delta = event.choices[0]?.delta ?? {};
      message.content += delta.content ?? "";
      message.reasoning += delta.reasoning_content ?? "";
      if (event.timings)
        note(`${event.usage.completion_tokens} tokens, ${event.timings.predicted_per_second.toFixed(1)} a second`);
      draw ??= requestAnimationFrame(show);
    }
  } catch (error) {
    if (mine.signal.aborted) {
      if (conversation === current) note("stopped");
    } else {
      note(error.message, "failed");
      if (!message.content) {
        conversation.messages.pop();
        node.remove();
      }
    }
  } finally {
    if (running === mine) running = null;
    if (answering === message) answering = null;
    cancelAnimationFrame(draw);
    show();
    store.save();
    showButtons();
  }
}

function send() {
  const content = byId("text").value.trim();
  if (!content || running) return;
  byId("text").value = "";
  fitText();
  byId("messages").querySelector(".welcome")?.remove();
  if (current.messages.length === 0) current.title = content.slice(0, 40);
  const message = { role: "user", content };
  current.messages.push(message);
  byId("messages").append(messageNode(message));
  byId("messages").scrollTop = byId("messages").scrollHeight;
  showList();
  store.save();
  answer();
}

export function startChat() {
  byId("compose").addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  byId("text").addEventListener("input", fitText);
  byId("text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      send();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") running?.abort();
  });
  byId("stop").addEventListener("click", () => running?.abort());
  byId("again").addEventListener("click", () => {
    if (current.messages.at(-1).role === "assistant") {  // else it failed, and left nothing
      current.messages.pop();
      byId("messages").lastElementChild.remove();
    }
    answer();
  });
  byId("new-chat").addEventListener("click", () => select(store.create()));
  select(current);
}
