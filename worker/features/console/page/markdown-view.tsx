/** Shows a Markdown tree. Headings are bold paragraphs, because an answer does not belong in the page's outline. */
import { visible } from "@edgecall/core/tools/visible.ts";
import { useMemo } from "preact/hooks";
import { Wide } from "./controls.tsx";
import { CopyButton } from "./copy-button.tsx";
import { type Block, type Inline, type ListItem, parseMarkdown } from "./markdown.ts";

export function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => parseMarkdown(text), [text]);
  return <div class="prose">{blocks.map((block) => blockView(block))}</div>;
}

function blockView(block: Block) {
  switch (block.kind) {
    case "paragraph":
      return <p>{block.content.map(inlineView)}</p>;
    case "heading":
      return <p class="heading">{block.content.map(inlineView)}</p>;
    case "quote":
      return <blockquote>{block.content.map(inlineView)}</blockquote>;
    case "rule":
      return <hr />;
    case "code":
      return (
        <div class="code">
          <Pre text={block.text} label="code" />
          <CopyButton text={block.text} label="Copy this code" />
        </div>
      );
    case "list": {
      const items = block.items.map((item) => itemView(item));
      return block.ordered ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>;
    }
    case "table":
      return (
        <Wide label="table">
          <table>
            <thead>
              <tr>
                {block.head.map((cell, at) => (
                  <th class={block.align[at]}>{cell.map(inlineView)}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row) => (
                <tr>
                  {row.map((cell, at) => (
                    <td class={block.align[at]}>{cell.map(inlineView)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      );
  }
}

/** Shows an item's first paragraph beside its mark and the rest below. */
function itemView({ done, content }: ListItem) {
  const [first, ...rest] = content;
  return (
    <li class={done === undefined ? undefined : "task"}>
      {done !== undefined && (
        <span role="img" aria-label={done ? "done" : "to do"}>
          {done ? "☑" : "☐"}{" "}
        </span>
      )}
      {first?.kind === "paragraph" ? first.content.map(inlineView) : first && blockView(first)}
      {rest.map((block) => blockView(block))}
    </li>
  );
}

function inlineView(part: Inline) {
  switch (part.kind) {
    case "text":
      return part.text;
    case "code":
      return <code>{part.text}</code>;
    case "strong":
      return <strong>{part.text}</strong>;
    case "em":
      return <em>{part.text}</em>;
    case "link":
      return (
        <a href={part.href} target="_blank" rel="noopener noreferrer">
          {part.text}
        </a>
      );
    case "picture":
      return <img src={part.src} alt={part.text || "picture from a device"} loading="lazy" />;
  }
}

/** Shows text unchanged, with invisible characters as escapes, in a box that can also be scrolled by keyboard. */
export function Pre({ text, label }: { text: string; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
    // biome-ignore lint/a11y/useSemanticElements: preformatted text needs <pre>
    <pre tabIndex={0} role="group" aria-label={label}>
      {visible(text.replaceAll("\r\n", "\n"))}
    </pre>
  );
}
