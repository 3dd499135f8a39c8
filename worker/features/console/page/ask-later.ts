/** A question that was asked on another screen: the chat sends it when it is shown. */
let waiting: { conversation: string; text: string } | undefined;

export function askLater(conversation: string, text: string): void {
  waiting = { conversation, text };
}

/** @returns the text, once */
export function textToAsk(conversation: string): string | undefined {
  if (waiting?.conversation !== conversation) return undefined;
  const { text } = waiting;
  waiting = undefined;
  return text;
}
