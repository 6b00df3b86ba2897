// Markdown of answers to elements: paragraphs, headings, lists, code, emphasis. Builds nodes and never HTML from
// text, so an answer cannot bring markup of its own.

const INLINE = /(`+)([^`]|[^`].*?[^`])\1(?!`)|\*\*(.+?)\*\*|\*(\S(?:.*?\S)?)\*/s;

function element(name, ...children) {
  const node = document.createElement(name);
  node.append(...children);
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
    else nodes.push(element("em", ...inline(match[4])));
    text = text.slice(match.index + match[0].length);
  }
  nodes.push(text);
  return nodes;
}

function list(lines) {
  const ordered = /^\s*\d+[.)]\s/.test(lines[0]);
  const items = [];
  for (const line of lines) {
    const item = /^\s*(?:[-*+]|\d+[.)])\s+(.*)$/.exec(line);
    if (item) items.push(item[1]);
    else items[items.length - 1] += " " + line.trim();
  }
  return element(ordered ? "ol" : "ul", ...items.map((item) => element("li", ...inline(item))));
}

function block(lines) {
  const heading = /^(#{1,6})\s+(.*)$/.exec(lines[0]);
  if (heading) return [element("h" + Math.min(6, heading[1].length + 2), ...inline(heading[2])), ...blocks(lines.slice(1))];
  if (/^\s*([-*+]|\d+[.)])\s/.test(lines[0])) return [list(lines)];
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
      const code = [];
      while (++i < lines.length && !/^\s*```/.test(lines[i])) code.push(lines[i]);
      out.push(element("pre", element("code", code.join("\n"))));
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
