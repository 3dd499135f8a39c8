/** An animated SVG of a terminal: one text for each different line, and a strip of frames of which one is seen at a time. Its text can be read back. */

/** @property ms it is seen for so long @property lines the screen from its top */
export type Frame = { ms: number; lines: readonly string[] };

export const COLUMNS = 84;
export const ROWS = 22;
const CHAR = 8.4;
const LINE = 19;
const EDGE = 16;
const PROMPT = "$ ";

/** Returns an SVG without scripts and fonts of others, as GitHub shows it in an `<img>`. */
export function svgOf(frames: readonly Frame[]): string {
  const width = Math.ceil(COLUMNS * CHAR + 2 * EDGE);
  const height = ROWS * LINE + 2 * EDGE;
  const total = frames.reduce((sum, { ms }) => sum + ms, 0);
  const ids = new Map<string, string>();
  const drawn = frames.map(({ lines }, n) => {
    const uses = lines.slice(-ROWS).map((line, row) => {
      if (line.trim() === "") return "";
      if (!ids.has(line)) ids.set(line, `l${ids.size}`);
      return `<use href="#${ids.get(line)}" y="${row * LINE}"/>`;
    });
    return `<g transform="translate(${n * width})">${uses.join("")}</g>`;
  });
  let at = 0;
  const steps = frames.map(({ ms }, n) => {
    const step = `${((at / total) * 100).toFixed(3)}%{transform:translateX(${-n * width}px)}`;
    at += ms;
    return step;
  });
  const texts = [...ids].map(([line, id]) => `<text id="${id}"${styleOf(line)}>${escaped(line)}</text>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>edgecall in a terminal</title>
<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d6dbe1;white-space:pre}.p{fill:#8fd694}#s{animation:s ${(total / 1_000).toFixed(1)}s steps(1,end) infinite}@keyframes s{${steps.join("")}}</style>
<defs>${texts.join("\n")}</defs>
<rect width="${width}" height="${height}" rx="10" fill="#171b21"/>
<g transform="translate(${EDGE} ${EDGE + LINE - 5})"><g id="s">${drawn.join("\n")}</g></g>
</svg>
`;
}

/** The text of each frame of an SVG that `svgOf` made. */
export function framesIn(svg: string): string[][] {
  const lines = new Map(
    [...svg.matchAll(/<text id="(l\d+)"[^>]*>([^<]*)<\/text>/g)].map(([, id = "", text = ""]) => [
      id,
      plain(text),
    ]),
  );
  return [...svg.matchAll(/<g transform="translate\(\d+\)">(.*?)<\/g>/g)].map(([, uses = ""]) =>
    [...uses.matchAll(/href="#(l\d+)"/g)].map(([, id = ""]) => lines.get(id) ?? ""),
  );
}

function styleOf(line: string): string {
  return line.startsWith(PROMPT) ? ' class="p"' : "";
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function plain(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
