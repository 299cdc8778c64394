// The page's parts by their ids.

/** The element of this id and kind; call.html has it. */
export function part<T extends HTMLElement>(id: string, kind: new () => T): T {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`the page has no ${kind.name} '${id}'`);
  return element;
}
