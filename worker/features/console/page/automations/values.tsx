/** The values that a rule looks at, on the time line of a device's page, with its runs. */
import { visible } from "@edgecall/core/tools/visible.ts";
import { Past } from "../devices/past.tsx";
import { Problem, Skeleton, useLoaded } from "../load.tsx";
import { say } from "../texts/say.ts";

type Props = {
  /** Ids; what the broker and Home Assistant have is kept, of agents nothing. */
  devices: readonly string[];
  /** Epoch ms. */
  runs: readonly number[];
};

export function Values({ devices, runs }: Props) {
  const { value, problem } = useLoaded("GET /v1/devices");
  if (!value) return problem ? <Problem text={problem} /> : <Skeleton lines={3} />;
  const drawn = value.devices.flatMap(({ id, name, readings }) => {
    const kept = readings?.filter(({ tainted }) => !tainted) ?? [];
    return devices.includes(id) && kept.length > 0 ? [{ id, name, kept }] : [];
  });
  if (drawn.length === 0) return <p class="quiet">{say("noReports")}</p>;
  return (
    <>
      {drawn.map(({ id, name, kept }) => (
        <section key={id}>
          <h4>{visible(name)}</h4>
          <Past device={id} readings={kept} runs={runs} />
        </section>
      ))}
    </>
  );
}
