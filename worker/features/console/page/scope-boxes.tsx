/** Boxes to check for what a token, or another home, may do. */

type ScopeBoxesProps<S> = {
  /** The scopes that can be chosen. */
  offered: ReadonlyArray<{ scope: S; name: string; about?: string }>;
  scopes: readonly S[];
  onChange: (scopes: S[]) => void;
};

export function ScopeBoxes<S extends string>({ offered, scopes, onChange }: ScopeBoxesProps<S>) {
  return (
    <>
      {offered.map(({ scope, name, about }) => (
        <label key={scope} class="check">
          <input
            type="checkbox"
            checked={scopes.includes(scope)}
            onChange={(event) => {
              const others = scopes.filter((one) => one !== scope);
              onChange(event.currentTarget.checked ? [...others, scope] : others);
            }}
          />
          <span>
            {name} {about && <small>{about}</small>}
          </span>
        </label>
      ))}
    </>
  );
}
