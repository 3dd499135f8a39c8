/** Boxes to check for what a token, or another home, may do. */

type ScopeBoxesProps = {
  /** The scopes that can be chosen. */
  offered: ReadonlyArray<{ scope: string; name: string; about?: string | undefined }>;
  scopes: readonly string[];
  onChange: (scopes: readonly string[]) => void;
};

export function ScopeBoxes({ offered, scopes, onChange }: ScopeBoxesProps) {
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
