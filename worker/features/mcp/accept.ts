/**
 * Reads `Accept`. The specification wants clients to name both forms of an answer, and many name one, `*` alone or none: each is answered in
 * a form that it takes (RFC 9110 §12.5.1).
 */
import { McpError, TRANSPORT_ERROR } from "./protocol.ts";

/** `either`: JSON or a stream of events, whatever suits the answer. */
export type AnswerForm = "json" | "events" | "either";

const JSON_TYPE = "application/json";
const EVENTS_TYPE = "text/event-stream";

/**
 * @param accept null: the client takes everything
 * @param modern its revision is one whose clients all read streams. An older one that takes everything may be a program that cannot
 * @throws McpError 406 when it takes neither form
 */
export function answerForm(accept: string | null, modern: boolean): AnswerForm {
  const ranges = (accept ?? "").split(",").flatMap((text) => readRange(text));
  const forAll = modern ? "either" : "json";
  if (ranges.length === 0) return forAll;
  const json = weightOf(ranges, JSON_TYPE);
  const events = weightOf(ranges, EVENTS_TYPE);
  if (json === 0 && events === 0)
    throw new McpError(TRANSPORT_ERROR, `Not Acceptable: Client must accept ${JSON_TYPE} or ${EVENTS_TYPE}`, {
      status: 406,
    });
  if (events === 0) return "json";
  if (json === 0) return "events";
  return ranges.some(({ type }) => type === EVENTS_TYPE) ? "either" : forAll;
}

type Range = { type: string; weight: number };

function readRange(text: string): Range[] {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  if (type === "") return [];
  const weight = parameters.find((parameter) => /^q\s*=/.test(parameter))?.replace(/^q\s*=\s*/, "");
  const read = weight === undefined ? 1 : Number(weight);
  return [{ type: type === "*" ? "*/*" : type, weight: Number.isNaN(read) ? 1 : read }];
}

/** Returns the weight of the range that fits the type best. @returns 0: it is not taken */
function weightOf(ranges: readonly Range[], type: string): number {
  for (const fitting of [type, `${type.split("/")[0]}/*`, "*/*"]) {
    const range = ranges.find((one) => one.type === fitting);
    if (range) return range.weight;
  }
  return 0;
}
