/** Runs what a button asks for, and keeps the text of its failure. */
import { useState } from "preact/hooks";
import { errorText } from "./api.ts";

export type Attempt = (act: () => Promise<unknown>) => Promise<void>;

/** @param after is called at the end, whether it succeeded or failed */
export function useAttempt(after?: () => void): {
  failed: string | undefined;
  busy: boolean;
  attempt: Attempt;
} {
  const [failed, setFailed] = useState<string>();
  const [busy, setBusy] = useState(false);
  async function attempt(act: () => Promise<unknown>): Promise<void> {
    setBusy(true);
    setFailed(undefined);
    try {
      await act();
    } catch (error) {
      setFailed(errorText(error));
    }
    setBusy(false);
    after?.();
  }
  return { failed, busy, attempt };
}
