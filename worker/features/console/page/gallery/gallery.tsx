/** `/dev/parts` of a checkout's stack: all parts of the console in all their states, to look at and to test. It asks the gateway for nothing. */
import { type ComponentChildren, render } from "preact";
import { useState } from "preact/hooks";
import { Small } from "../controls.tsx";
import { Problem, Skeleton } from "../load.tsx";
import { AskField } from "../parts/ask-field.tsx";
import { Icon } from "../parts/icon.tsx";
import { type IconName, PATHS, type Tone } from "../parts/icon-paths.ts";
import { Banner, Fine, Line, LinkLine, Mark, Nothing, OnOff, Round, Tile } from "../parts/parts.tsx";

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
