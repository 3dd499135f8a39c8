/** A Markdown tree on the page. Headings are paragraphs in bold: an answer has no place in the page's outline. */
import { visible } from "@edgecall/core/tools/visible.ts";
import { useMemo } from "preact/hooks";
import { type Block, type Inline, parseMarkdown } from "./markdown.ts";

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
      return <Pre text={block.text} label="code" />;
    case "list": {
      const items = block.items.map(({ depth, content }) => (
        <li class={`depth-${depth}`}>{content.map(inlineView)}</li>
      ));
      return block.ordered ? <ol>{items}</ol> : <ul>{items}</ul>;
    }
    case "table":
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
        // biome-ignore lint/a11y/useSemanticElements: no form fields are in it
        <div class="scroll" tabIndex={0} role="group" aria-label="table">
          <table>
            <thead>
              <tr>
                {block.head.map((cell) => (
                  <th>{cell.map(inlineView)}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row) => (
                <tr>
                  {row.map((cell) => (
                    <td>{cell.map(inlineView)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
  }
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

/** Text as it is, what cannot be seen as escapes, in a box that can be scrolled by keyboard too. */
export function Pre({ text, label }: { text: string; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    // biome-ignore lint/a11y/useSemanticElements: the text is preformatted before all
    <pre tabIndex={0} role="group" aria-label={label}>
      {visible(text.replaceAll("\r\n", "\n"))}
    </pre>
  );
}
