/** The list of a home's conversations. */

/** Characters. */
export const TITLE_MAX = 80;
/** Principals with whom one conversation is shared by name. */
export const READERS_MAX = 20;

/** @property principal who began it; named where that is not whoever looks */
export type ListedConversation = { id: string; title: string; last_at: number; principal?: string };

/** A conversation's report for the list, once a turn. @property name `home/channel/id` */
export type Listing = { name: string; principal: string; text: string };

/** The place of a conversation in the list. */
export type Place = { last_at: number; name: string };

/**
 * @property all everybody's @property words that stand in the title, upper and lower case alike
 * @property seenBy only those that this person began, or that were shared with them, too
 */
export type ListQuery = {
  after?: Place | undefined;
  limit: number;
  all?: boolean;
  words?: string | undefined;
  seenBy?: string | undefined;
};
