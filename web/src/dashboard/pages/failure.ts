import { h } from "../element";

/** What went wrong, for the reader and for screen readers at once. */
export const failure = (text: string): HTMLElement => h("p", { class: "card failure", role: "alert" }, text);
