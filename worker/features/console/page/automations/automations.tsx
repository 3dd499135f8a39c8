/** Rules that act, with what each does now, and sentences that make one. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import { useId } from "preact/hooks";
import { language, say } from "../texts/say.ts";
import { AutomationCard } from "./automation-card.tsx";

type List = AnswerOf<"GET /v1/automations">;

export function Automations({ list, onChange }: { list: List; onChange: () => void }) {
  const { automations, bridge, allows, zone } = list;
  const id = useId();
  if (automations.length === 0) return null;
  return (
    <section class="list" aria-labelledby={id} lang={language()}>
      <h2 id={id}>{say("act")}</h2>
      {bridge !== "online" && (
        <p class="notice">{say(bridge === "older" ? "actBridgeOld" : "bridgeSilent")}</p>
      )}
      {automations.map((one) => (
        <AutomationCard key={one.id} automation={one} mayAllow={allows} zone={zone} onChange={onChange} />
      ))}
    </section>
  );
}

/** What a person may say to have one. */
export function ActExamples() {
  return (
    <div lang={language()}>
      <p class="quiet">{say("actSay")}</p>
      <ul class="examples">
        {(["actLeak", "actMotion", "actSunset"] as const).map((key) => (
          <li key={key}>{say(key)}</li>
        ))}
      </ul>
    </div>
  );
}
