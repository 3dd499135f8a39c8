/** What is told of a rule that acts. */
import type { Phrases } from "../phrases/phrases.ts";
import type { Automation, AutomationNews } from "../protocol/automation.ts";

export type ToldNews = {
  news: AutomationNews;
  automation: Automation;
  zone: string;
  now: number;
  phrases: Phrases;
};

export function newsText({ news: { run, paused }, automation }: ToldNews): string {
  return [automation.name, automation.say ?? "", paused ?? "", run?.state ?? ""].join(" ").trim();
}
