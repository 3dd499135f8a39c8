/** What is wrong with the layout of the page: boxes, overflow, text and the tokens' colours. Pixels are not compared. */
import type { Page } from "playwright-core";

/** Returns a line for each fault; empty = none. */
export async function layoutFaults(page: Page): Promise<string[]> {
  return [...new Set(await page.evaluate<string[]>(LOOK))];
}

/** It runs in the page, whose types Node lacks. */
const LOOK = `(() => {
  const faults = [];
  const width = document.documentElement.clientWidth;
  const nameOf = (one) => {
    const text = (one.getAttribute("aria-label") ?? one.textContent ?? "").trim().replace(/\\s+/g, " ").slice(0, 40);
    const kind = typeof one.className === "string" && one.className ? "." + one.className.trim().replaceAll(" ", ".") : "";
    return one.localName + kind + " '" + text + "'";
  };
  const isHeardOnly = (one) => one.closest(".unseen, .skip:not(:focus), noscript, option") !== null ||
    getComputedStyle(one).clipPath === "inset(50%)" || (one.parentElement !== null && getComputedStyle(one.parentElement).clipPath === "inset(50%)");
  const isSeen = (one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !isHeardOnly(one);

  // A fixed layer may lie over what is scrolled below it.
  const layerOf = (one) => {
    for (let at = one; at; at = at.parentElement)
      if (["fixed", "sticky"].includes(getComputedStyle(at).position) || at.matches("dialog, .news")) return at;
    return null;
  };
  /** What is left of a box within all that clips it, and whether it can be scrolled into view. */
  const clipped = ({ left, right, top, bottom }, one) => {
    let scrolls = false;
    for (let at = one; at; at = at.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(at);
      const box = at.getBoundingClientRect();
      if (overflowX !== "visible") {
        if (overflowX !== "hidden" && overflowX !== "clip" && at.scrollWidth > at.clientWidth + 1) scrolls = true;
        [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
      }
      if (overflowY !== "visible") [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
      if (getComputedStyle(at).position === "fixed") break;
    }
    return { left, right, top, bottom, scrolls };
  };

  // Overflow: the page, and a screen, never scroll sideways.
  for (const one of document.querySelectorAll("html, main, .screen, .card, .panel, .news, dialog[open], .turns"))
    if (one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0) {
      const end = one.getBoundingClientRect().left + one.clientWidth;
      const out = [...one.querySelectorAll("*:not(.scroll *)")].filter((part) => part.getBoundingClientRect().right > end + 1);
      const inner = out.find((part) => !out.some((other) => other !== part && part.contains(other))) ?? one;
      faults.push(one.localName + " is " + (one.scrollWidth - one.clientWidth) + " px wider than its place: " + nameOf(inner));
    }

  // Colours: those of the tokens, as this theme has them.
  const probe = document.createElement("i");
  document.body.append(probe);
  const colourOf = (role) => {
    probe.style.color = "var(--" + role + ")";
    return getComputedStyle(probe).color;
  };
  const TEXTS = ["ink", "quiet", "accent", "on-accent", "on-tint", "wait", "bad", "on-bad"];
  const GROUNDS = ["ground", "surface", "sunken", "fill", "raised", "tint", "wait-tint", "bad-tint", "accent", "bad",
    "edge", "hair", "on-accent", "wait"];
  const texts = new Set(TEXTS.map(colourOf));
  const grounds = new Set(GROUNDS.map(colourOf));
  probe.remove();
  const isForced = matchMedia("(forced-colors: active)").matches;

  // Text: its colour, whether it is cut, and what lies over it.
  const lines = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const one = node.parentElement;
    if (node.data.trim() === "" || !one || one.closest("svg, script, style") || !isSeen(one)) continue;
    const { color } = getComputedStyle(one);
    if (!isForced && !texts.has(color)) faults.push("a colour of no role, " + color + ": " + nameOf(one));
    const range = document.createRange();
    range.selectNodeContents(node);
    const layer = layerOf(one);
    for (const rect of range.getClientRects()) {
      const { left, right, top, bottom, scrolls } = clipped(rect, one);
      if (right - left < 2 || bottom - top < 2) continue;
      if (!scrolls && (left < -1 || right > width + 1)) faults.push("outside the window: " + nameOf(one));
      lines.push({ one, left, right, top, bottom, layer });
    }
  }
  for (const [at, a] of lines.entries())
    for (const b of lines.slice(at + 1)) {
      if (a.one === b.one || a.layer !== b.layer || a.one.contains(b.one) || b.one.contains(a.one)) continue;
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 2 && down > 0.4 * Math.min(a.bottom - a.top, b.bottom - b.top))
        faults.push("text over text: " + nameOf(a.one) + " and " + nameOf(b.one));
    }

  for (const one of document.querySelectorAll("body *")) {
    if (one.closest("svg, meter, progress") || !isSeen(one)) continue;
    const style = getComputedStyle(one);
    const ground = style.backgroundColor;
    const isNone = ground === "rgba(0, 0, 0, 0)";
    if (!isForced && !isNone && !grounds.has(ground)) faults.push("a ground of no role, " + ground + ": " + nameOf(one));
    const isHidden = ["hidden", "clip"].includes(style.overflowX);
    const mayEnd = one.matches(".cut, .two, input, textarea, select") && !one.matches("nav a *, .screen-head h1");
    if (isHidden && !mayEnd && one.scrollWidth > one.clientWidth + 1) faults.push("cut: " + nameOf(one));
    if (!one.matches("button, a[href], input, select, textarea, summary")) continue;
    const box = (one.matches("input[type=checkbox], input[type=radio]") && one.closest("label") || one).getBoundingClientRect();
    const seen = clipped(box, one);
    if (seen.right - seen.left < 1 || seen.bottom - seen.top < 1) continue;
    if (!seen.scrolls && (box.left < -1 || box.right > width + 1)) faults.push("outside the window: " + nameOf(one));
    // WCAG 2.2, 2.5.8. A link within a sentence is as high as its line.
    const isInline = one.localName === "a" && style.display === "inline";
    if (!isInline && (box.width < 24 || box.height < 24))
      faults.push("too small to press, " + Math.round(box.width) + " by " + Math.round(box.height) + ": " + nameOf(one));
  }
  return faults;
})()`;
