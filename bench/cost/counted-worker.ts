/** The counted Worker that logs each thing that is billed, in order: an object loses its memory when it sleeps. */
import { countedBy } from "./counted-objects.ts";

const counted = countedBy((line) => console.log(JSON.stringify(line)));
export const { Home, Conversation } = counted;
export default counted.handler;
