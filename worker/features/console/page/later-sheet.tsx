/** The sheet of a question. Its card is a script of its own: most visits have none. */
import type { SessionView } from "@edgecall/client/routes.ts";
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { addressOfPlace } from "./address.ts";
import { useQuestionsOf } from "./open-questions.tsx";

type Props = { id: string; session: SessionView; onClose: () => void };

export function LaterSheet(props: Props) {
  const [Shown, setShown] = useState<ComponentType<Props>>();
  useEffect(() => {
    import("./question-sheet.tsx").then(
      ({ QuestionSheet }) => setShown(() => QuestionSheet),
      // Open questions are listed, and opened again from there.
      props.onClose,
    );
  }, []);
  return Shown ? <Shown key={props.id} {...props} /> : null;
}

/** Opens the sheet of what a press of this page has just caused. @param call while it runs */
export function useOwnQuestion(call: string | undefined): void {
  const id = useQuestionsOf(call)[0]?.id;
  useEffect(() => {
    if (id !== undefined) location.hash = addressOfPlace("waiting", id);
  }, [id]);
}
