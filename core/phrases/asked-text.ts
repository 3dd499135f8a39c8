/** Says who was asked to decide something. Pure. */
import { ENGLISH, type Phrases } from "./phrases.ts";

/** @property time on the home's clock, `14:02` */
type Asked = { name: string; time: string };

/** "Ann and Ben were asked, 14:02. Mia was asked, 14:04." Empty: nobody was. */
export function askedText(people: readonly Asked[], phrases: Phrases = ENGLISH): string {
  const times = [...new Set(people.map(({ time }) => time))];
  const texts = times.map((time) => {
    const names = people.filter((one) => one.time === time).map(({ name }) => name);
    const key = names.length === 1 ? "wasAsked" : "wereAsked";
    return phrases.say(key, { names: phrases.list(names, "and"), time });
  });
  return phrases.sentences(...texts);
}
