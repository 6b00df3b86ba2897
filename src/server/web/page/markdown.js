// Markdown of answers to elements: paragraphs, headings, lists, quotes, tables, code, emphasis, links. Builds nodes
// and never HTML from text, so an answer cannot bring markup of its own.

const INLINE = /(`+)([^`]|[^`].*?[^`])\1(?!`)|\*\*(.+?)\*\*|\*(\S(?:.*?\S)?)\*|\[([^\]]+)\]\((https?:\/\/[^\s)]+)\)/s;
const LIST = /^(\s*)(?:[-*+]|\d+[.)])\s+(.*)$/;

function element(name, ...children) {
  const node = document.createElement(name);
  node.append(...children);
  return node;
}

function link(text, target) {
  const node = element("a", ...inline(text));
  node.href = target;
  node.target = "_blank";
  node.rel = "noopener noreferrer";
  return node;
}

function inline(text) {
  const nodes = [];
  for (;;) {
    const match = INLINE.exec(text);
    if (!match) break;
    nodes.push(text.slice(0, match.index));
    if (match[2] !== undefined) nodes.push(element("code", match[2]));
    else if (match[3] !== undefined) nodes.push(element("strong", ...inline(match[3])));
    else if (match[4] !== undefined) nodes.push(element("em", ...inline(match[4])));
    else nodes.push(link(match[5], match[6]));
    text = text.slice(match.index + match[0].length);
  }
  nodes.push(text);
  return nodes;
}

/** Lines that are further in than an item belong to a list inside it. */
function list(lines) {
  const depth = LIST.exec(lines[0])[1].length;
  const node = element(/^\s*\d/.test(lines[0]) ? "ol" : "ul");
  if (node.tagName === "OL") node.start = parseInt(lines[0], 10);
  for (let i = 0; i < lines.length;) {
    const item = element("li", ...inline(LIST.exec(lines[i])?.[2] ?? lines[i].trim()));
    const inner = [];
    for (++i; i < lines.length; ++i) {
      const next = LIST.exec(lines[i]);
      if (next && next[1].length <= depth) break;
      if (next || inner.length) inner.push(lines[i]);
      else item.append(" ", ...inline(lines[i].trim()));
    }
    if (inner.length) item.append(list(inner));
    node.append(item);
  }
  return node;
}

const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());

function table(lines) {
  const row = (line, name) => element("tr", ...cells(line).map((cell) => element(name, ...inline(cell))));
  return element("table", element("thead", row(lines[0], "th")), element("tbody", ...lines.slice(2).map((line) => row(line, "td"))));
}

function code(lines) {
  const copy = element("button", "Copy");
  copy.type = "button";
  copy.addEventListener("click", () => navigator.clipboard?.writeText(lines.join("\n")).then(() => { copy.textContent = "Copied"; }));
  return element("figure", element("pre", element("code", lines.join("\n"))), copy);
}

function block(lines) {
  const heading = /^(#{1,6})\s+(.*)$/.exec(lines[0]);
  if (heading) return [element("h" + Math.min(6, heading[1].length + 2), ...inline(heading[2])), ...blocks(lines.slice(1))];
  if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(lines[0])) return [element("hr"), ...blocks(lines.slice(1))];
  if (/^\s*>/.test(lines[0])) return [element("blockquote", ...blocks(lines.map((line) => line.replace(/^\s*>\s?/, ""))))];
  if (lines.length > 1 && lines[0].includes("|") && /^[\s|:-]*-[\s|:-]*$/.test(lines[1])) return [table(lines)];
  if (LIST.test(lines[0])) return [list(lines)];
  const at = lines.findIndex((line) => LIST.test(line));  // a list right behind its introduction
  if (at > 0) return [...block(lines.slice(0, at)), list(lines.slice(at))];
  return [element("p", ...inline(lines.join("\n")))];
}

function blocks(lines) {
  const out = [];
  let open = [];
  const close = () => {
    if (open.length) out.push(...block(open));
    open = [];
  };
  for (let i = 0; i < lines.length; ++i) {
    if (/^\s*```/.test(lines[i])) {
      close();
      const inside = [];
      while (++i < lines.length && !/^\s*```/.test(lines[i])) inside.push(lines[i]);
      out.push(code(inside));
    } else if (lines[i].trim() === "") {
      close();
    } else {
      open.push(lines[i]);
    }
  }
  close();
  return out;
}

export const markdown = (text) => blocks(text.split("\n"));
