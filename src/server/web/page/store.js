// Conversations, kept in this browser: {id, title, messages: [{role, content, reasoning}]}.
const KEY = "quire.conversations";
const conversations = JSON.parse(localStorage.getItem(KEY) ?? "[]");

export const all = () => conversations;

export function create() {
  const conversation = { id: String(Date.now()), title: "New chat", messages: [] };
  conversations.unshift(conversation);
  return conversation;
}

export function remove(conversation) {
  conversations.splice(conversations.indexOf(conversation), 1);
  save();
}

export function save() {
  try {
    localStorage.setItem(KEY, JSON.stringify(conversations.filter((c) => c.messages.length > 0)));
  } catch {
    // The browser's space is used up: the oldest go first.
    if (conversations.length > 1) {
      conversations.pop();
      save();
    }
  }
}
