/** Loads the script of a screen when one of later.ts is opened. */
import type { SessionView } from "@edgecall/client/routes.ts";
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { errorText } from "./api.ts";
import { Problem, Screen, Skeleton } from "./load.tsx";

type Props = { session: SessionView; item: string | undefined };
type Later = typeof import("./later.ts");

/** @param name of the component in later.ts */
export function lazy(title: string, name: keyof Later): ComponentType<Props> {
  return function Lazy(props: Props) {
    const [Shown, setShown] = useState<ComponentType<Props>>();
    const [problem, setProblem] = useState<string>();
    useEffect(() => {
      import("./later.ts").then(
        (screens) => setShown(() => screens[name]),
        (error: unknown) => setProblem(`Load the page again: ${errorText(error)}`),
      );
    }, []);
    if (Shown) return <Shown {...props} />;
    return <Screen title={title}>{problem ? <Problem text={problem} /> : <Skeleton lines={6} />}</Screen>;
  };
}
