/** What stands at the end of every screen's head: what waits, the search, the news, the person. */
import { type ComponentChildren, createContext } from "preact";

export const ScreenTools = createContext<ComponentChildren>(null);
