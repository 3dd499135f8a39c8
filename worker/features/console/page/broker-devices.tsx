/** Devices: those of the home's broker by area, with what they report, and controls for what is allowed. */
import type { SessionView } from "@edgecall/client/routes.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { useEffect, useState } from "preact/hooks";
import { Check, Small } from "./controls.tsx";
import { DeviceCard } from "./device-card.tsx";
import { type Group, groupsOf } from "./device-groups.ts";
import { Problem, Screen, Skeleton, useLoaded } from "./load.tsx";
import { SearchBox } from "./pager.tsx";

const WORDS_MAX = 200;
/** With more devices areas are closed at first. */
const OPEN_MAX = 30;

type Props = {
  session: SessionView;
  /** A device's id. */
  item: string | undefined;
};

export function BrokerDevices({ session, item = "" }: Props) {
  const [words, setText] = useState(item);
  const [all, setAll] = useState(false);
  // It stays open when it moves to another area.
  const [opened, setOpened] = useState<string>();
  const { value, problem, reload } = useLoaded("GET /v1/devices", { query: all ? { all: "yes" } : {} });
  // It is requested again when somebody comes back to the page, and never while nobody looks.
  useEffect(() => {
    const look = () => {
      if (document.visibilityState === "visible") reload();
    };
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [reload]);
  const devices = value?.devices ?? [];
  const groups = groupsOf(devices, words);
  const areas = [...new Set(devices.map(({ area }) => area).filter((area) => area !== null))].sort();
  const isSilent = devices.length > 0 && devices.every(({ readings }) => readings === null);
  return (
    <Screen
      title="Devices"
      tools={
        <>
          {value && (
            <span class="quiet">
              {devices.filter(({ online }) => online).length} of {devices.length} online
            </span>
          )}
          <Small onClick={reload}>Refresh</Small>
        </>
      }
    >
      <Problem text={problem} />
      {!value && !problem && <Skeleton lines={6} />}
      {value && devices.length === 0 && (
        <p class="empty">
          No device of a broker is known. The bridge offers those that describe themselves for Home Assistant,
          such as zigbee2mqtt's, when its setting <code>MQTT_DEVICES</code> is <code>read</code> or{" "}
          <code>allow</code>.
        </p>
      )}
      {isSilent && <p class="notice">The bridge does not answer, so nothing is known of how they are now.</p>}
      {devices.length > 0 && (
        <search class="row">
          <SearchBox label="Search devices" initial={item} maxLength={WORDS_MAX} onText={setText} />
          <span>
            <Check checked={all} onCheck={setAll}>
              with diagnostics
            </Check>
          </span>
          {words !== "" && (
            <span class="quiet" role="status">
              {groups.reduce((sum, group) => sum + group.devices.length, 0)} found
            </span>
          )}
        </search>
      )}
      <datalist id="areas">
        {areas.map((area) => (
          <option value={area} />
        ))}
      </datalist>
      <LeftOut list={value?.left_out ?? []} />
      {groups.map((group) => (
        <Area
          key={group.area}
          group={group}
          isOpen={words !== "" || devices.length <= OPEN_MAX}
          session={session}
          look={reload}
          opened={opened}
          onOpen={setOpened}
        />
      ))}
    </Screen>
  );
}

/** Also where no device is known at all: then it is the reason. */
function LeftOut({ list }: { list: readonly { why: string; count: number }[] }) {
  const count = list.reduce((sum, one) => sum + one.count, 0);
  return count === 0 ? null : (
    <details>
      <summary class="quiet">
        {count} {count === 1 ? "description" : "descriptions"} on the broker left out
      </summary>
      <ul>
        {list.map(({ why, count: of }) => (
          <li key={why}>
            {visible(why)}: {of}
          </li>
        ))}
      </ul>
    </details>
  );
}

type AreaProps = {
  group: Group;
  isOpen: boolean;
  session: SessionView;
  look: () => void;
  /** The id of the device that shows everything. */
  opened: string | undefined;
  onOpen: (id: string | undefined) => void;
};

function Area({ group: { area, devices }, isOpen, session, look, opened, onOpen }: AreaProps) {
  const away = devices.filter(({ online }) => !online).length;
  const [unfolded, setUnfolded] = useState(isOpen);
  useEffect(() => setUnfolded(isOpen), [isOpen]);
  return (
    <details class="area" open={unfolded} onToggle={({ currentTarget: { open } }) => setUnfolded(open)}>
      <summary>
        <h2>{area}</h2>
        <span class="quiet">
          {devices.length}
          {away > 0 && `, ${away} offline`}
        </span>
      </summary>
      {unfolded && (
        <div class="devices">
          {devices.map((device) => (
            <DeviceCard
              key={device.id}
              device={device}
              session={session}
              look={look}
              opened={opened === device.id}
              onOpen={(open) => onOpen(open ? device.id : undefined)}
            />
          ))}
        </div>
      )}
    </details>
  );
}
