// Access to the elements of the page.

/** The element with this id and type; call.html must have it. */
export function part<T extends HTMLElement>(id: string, type: new () => T): T {
  const element = document.getElementById(id);
  if (!(element instanceof type)) throw new Error(`the page has no ${type.name} '${id}'`);
  return element;
}
