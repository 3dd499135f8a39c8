/** The person who looks: what names them says "you". */
import { visible } from "@edgecall/core/tools/visible.ts";
import { createContext } from "preact";
import { useContext } from "preact/hooks";

/** The principal of the session: its token's name. */
export const Me = createContext("");

/** Who asked, for the person who looks. */
export function useAsker(): (card: { asker: string; own?: { principal: string; text: string } }) => string {
  const me = useContext(Me);
  return ({ asker, own }) => visible(own?.principal === me ? own.text : asker);
}
