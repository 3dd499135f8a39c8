/** `/dev/parts` of a checkout's stack: all parts of the console in all their states, to look at and to test. It asks the gateway for nothing. */
import { type ComponentChildren, render } from "preact";
import { useState } from "preact/hooks";
import { ApprovalCard } from "../approval-card.tsx";
import { AtHome } from "../automations/at-home.tsx";
import type { Automation } from "../automations/automation.ts";
import { AutomationCard } from "../automations/automation-card.tsx";
import { Small } from "../controls.tsx";
import { Problem, Skeleton } from "../load.tsx";
import { AskField } from "../parts/ask-field.tsx";
import { Icon } from "../parts/icon.tsx";
import { type IconName, PATHS, type Tone } from "../parts/icon-paths.ts";
import { Banner, Fine, Line, LinkLine, Mark, Nothing, OnOff, Round, Tile } from "../parts/parts.tsx";
import { SecondTap } from "../second-tap.tsx";

const TONES: readonly Tone[] = ["plain", "on", "bad", "gone"];
const COLOURS = ["ground", "surface", "sunken", "fill", "raised", "tint", "wait-tint", "bad-tint"];
const LONG = "Donaudampfschifffahrtsgesellschaft in the upper left corner of the hall";

function Part({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <section class="list" aria-labelledby={name}>
      <h2 id={name}>{name}</h2>
      {children}
    </section>
  );
}

const AT = Date.UTC(2026, 10, 28, 18, 21, 58);
type Run = NonNullable<Automation["now"]>["runs"][number];

const RUN: Run = {
  rule: "a-0a1b",
  version: 1,
  firing: 3,
  state: "done",
  at: AT,
  ended: AT + 3_000,
  because: ["Door contact: open", "nobody home: Phone away"],
  steps: [
    { step: 0, outcome: "confirmed", text: "Living room heating: target temperature 17 °C", at: AT + 2_000 },
  ],
  undo: true,
};
const STOPPED: Run = {
  ...RUN,
  firing: 2,
  state: "stopped",
  why: "Living room heating did not report 17 °C",
  steps: [
    {
      step: 0,
      outcome: "unconfirmed",
      text: "Living room heating: target temperature 17 °C",
      at: AT - 85_000,
    },
  ],
};
const RULE: Automation = {
  id: "a-0a1b",
  name: "Door open, heating down",
  version: 1,
  status: "active",
  why: null,
  say: null,
  card: [
    "Make this rule? “Door open, heating down”",
    "When: Door contact (contact) is open for 5 min. Only if: nobody is home (Phone).",
    "Then: 1. Living room heating: set temperature to 17 °C; waits up to 15 s until the device reports it.",
    "When it is over: back to 21 °C, unless somebody changed it.",
    "At most 12 times an hour. Runs at home, also without Internet.",
  ],
  reads: [],
  changes: ["living-room-heating"],
  by: "Anna",
  channel: "telegram",
  conversation: "telegram:family",
  made_at: AT,
  allowed_by: "Anna",
  allowed_at: AT,
  until: AT + 90 * 86_400_000,
  permissions: [],
  now: { rule: "a-0a1b", version: 1, state: "armed", now: ["Door contact: closed"], runs: [RUN, STOPPED] },
};
const rule = (id: string, more: Partial<Automation>): Automation => ({ ...RULE, id, ...more });

/** Each state of a rule that acts, its question with a second tap, and who is at home. */
function Acting() {
  const state = (of: NonNullable<Automation["now"]>["state"], runs: Run[] = []): Automation["now"] => ({
    rule: "a-0a1b",
    version: 1,
    state: of,
    now: ["Door contact: open"],
    runs,
  });
  const rules = [
    RULE,
    rule("a-0a1c", { name: "So already", now: state("waiting") }),
    rule("a-0a1d", { name: "No value", now: state("unknown") }),
    rule("a-0a1e", { name: LONG, now: state("running", [{ ...RUN, state: "running", steps: [] }]) }),
    rule("a-0a1f", { name: "Ran too often", now: state("resting", [STOPPED]) }),
    rule("a-0a20", {
      name: "Changed",
      status: "paused",
      why: "Living room heating is another device now",
      now: null,
    }),
  ];
  return (
    <Part name="Rules that act">
      {rules.map((one) => (
        <AutomationCard key={one.id} automation={one} mayAllow zone="Europe/Berlin" onChange={() => {}} />
      ))}
      <AtHome
        list={{
          away: [{ person: "ben", name: "Ben", at: AT }],
          presence: {
            home: "unknown",
            sources: [
              { name: "Phone", says: "away" },
              { name: "Hall", says: "home" },
              { name: LONG, says: "unknown" },
            ],
          },
        }}
        session={{ signed_in: true, access: false, name: "anna", role: "owner", scopes: [] }}
        onChange={() => {}}
      />
      <Ask />
    </Part>
  );
}

/** The two questions of a rule that heats, and its second tap where it is resumed. */
function Ask() {
  const [answer, setAnswer] = useState("");
  const ask = (text: string, lines: string[], danger?: true) => {
    const card = {
      ...{ verb: "Allow", decline: "Not now", asker: "Anna asked, by Telegram", facts: [], lines },
      ...(danger && { danger }),
    };
    const approval = {
      tool: "automate",
      parameters: { name: "Warm bath" },
      reason: "it acts by itself",
      card,
    };
    const question = { id: text, call: "c", agent: "home", text, options: [], approval, expires_at: AT };
    return (
      <ApprovalCard
        question={question}
        approval={approval}
        mayApprove
        isSent={false}
        onAnswer={setAnswer}
        inSheet={false}
      />
    );
  };
  const lines = ["When: Bathroom sensor is below 15 °C.", "Then: Boiler: on, at most 60 min."];
  return (
    <>
      {ask("Make this rule? “Warm bath”", lines)}
      {ask("Warm bath", ["Boiler: on"], true)}
      <SecondTap texts={["Boiler: on"]} verb="Allow" disabled={false} onYes={() => setAnswer("approve")} />
      <p class="quiet" role="status">
        {answer}
      </p>
    </>
  );
}

function Gallery() {
  const [on, setOn] = useState(true);
  const [asked, setAsked] = useState("");
  return (
    <main class="screen gallery">
      <h1>Parts</h1>
      <Part name="Text">
        <h1>A screen's name, a question</h1>
        <h2>An area, a card</h2>
        <p>Text, as an answer has it.</p>
        <p class="quiet">A second line</p>
        <p class="notice">A person is asked</p>
        <Problem text="Something went wrong" />
      </Part>
      <Part name="Grounds">
        <ul class="row grounds">
          {COLOURS.map((name) => (
            <li key={name} class={`ground-${name}`}>
              {name}
            </li>
          ))}
        </ul>
      </Part>
      <Part name="Icons">
        <ul class="row grounds">
          {(Object.keys(PATHS) as IconName[]).map((name) => (
            <li key={name}>
              <Icon name={name} /> {name}
            </li>
          ))}
        </ul>
      </Part>
      <Part name="Buttons">
        <div class="row">
          <button type="button" class="main">
            Switch off
          </button>
          <button type="button">No</button>
          <button type="button" class="bad">
            Unlock
          </button>
          <button type="button" disabled>
            Not now
          </button>
          <Small>Small</Small>
          <Small kind="bare">Got it</Small>
          <Round icon="bell" label="News, 2 unread" count={2} />
          <Round icon="search" label="Find" />
        </div>
      </Part>
      <Part name="Switches">
        <div class="row">
          <OnOff label="A lamp" on={on} onChange={setOn} />
          <OnOff label="A lamp that is off" on={false} onChange={() => {}} />
          <OnOff label="A lamp that is not reached" on={false} disabled onChange={() => {}} />
        </div>
      </Part>
      <Part name="Marks">
        <div class="row">
          {TONES.map((tone) => (
            <Mark key={tone} icon="lamp" tone={tone} />
          ))}
          <Mark icon="lamp" tone="on" large />
        </div>
      </Part>
      <Part name="Tiles">
        <div class="card area-card">
          <div class="tiles">
            {TONES.map((tone) => (
              <Tile key={tone} icon="lamp" tone={tone} is={tone} about="Reading lamp" />
            ))}
            <Tile icon="plug" tone="on" is="On · 84 W" about="TV" pressed={on} onPress={() => setOn(!on)} />
            <Tile icon="window" tone="plain" is="Open" about={LONG} href="#" />
          </div>
        </div>
      </Part>
      <Part name="Chips">
        <div class="chips">
          <a class="chip on" href="#lights">
            <Icon name="lamp" /> 3 lights on
          </a>
          <a class="chip" href="#doors">
            <Icon name="lock" /> Doors <span class="quiet">locked</span>
          </a>
        </div>
      </Part>
      <Part name="Rows">
        <ul class="card rows">
          <Line mark={<Mark icon="away" />} title="garden-pi: Offline" second="last heard 12 min. ago">
            <Small kind="bare">Show</Small>
          </Line>
          <Line mark={<Mark icon="bell" tone="bad" />} title={LONG} second={LONG}>
            <Small kind="bare">Got it</Small>
          </Line>
          <LinkLine
            icon="globe"
            title="Something lent by another home"
            second="With the invitation"
            href="#lent"
          />
        </ul>
      </Part>
      <Part name="Banners">
        <Banner kind="bad" icon="away" text="No connection since 14:02. What you see is from then.">
          <Small kind="bare">Try now</Small>
        </Banner>
        <Banner kind="wait" icon="alarm" text="The home's bridge is offline since 13:40." />
        <Fine text="All is fine. Nothing waits, nothing fires." />
      </Part>
      <Part name="Asking">
        <AskField label="Ask or tell your home" send="Ask" onAsk={setAsked} />
        <p class="quiet" role="status">
          {asked}
        </p>
      </Part>
      <Acting />
      <Part name="Loading and nothing">
        <Skeleton lines={3} />
        <Nothing icon="devices" title="No devices yet" text="One is enough to begin.">
          <button type="button" class="main">
            Add a device
          </button>
        </Nothing>
      </Part>
    </main>
  );
}

const root = document.getElementById("root");
if (root) render(<Gallery />, root);
