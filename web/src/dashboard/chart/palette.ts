// Colours: Okabe and Ito's, darkened or lightened until lines have a contrast of 3 to 1 (WCAG 2.2, 1.4.11).
// Lines of one colour differ in their dashes.

const LIGHT = ["#0072b2", "#b35900", "#00805c", "#a3477f", "#1b1f24", "#6650c8", "#8a6d00"];
const DARK = ["#4aa8e0", "#f0a03c", "#1fbf92", "#e08bc0", "#e6e9ec", "#a99bff", "#d9bb3c"];
const STATES = { light: ["#c24e0033", "#57606a22", "#00805c33"], dark: ["#ff8a3d3a", "#a1a9b226", "#1fbf923a"] };

export const DASHES = [[], [7, 4], [2, 3], [7, 3, 2, 3]];

export const isDark = (): boolean => matchMedia("(prefers-color-scheme: dark)").matches;

export interface Ink {
  text: string;
  soft: string;
  grid: string;
  lost: string;
}

export const ink = (): Ink =>
  isDark()
    ? { text: "#e6e9ec", soft: "#a1a9b2", grid: "#30363d", lost: "#ff8a3d" }
    : { text: "#1b1f24", soft: "#57606a", grid: "#e4e7eb", lost: "#b42318" };

/** The colour with this number; an eighth series has the first again. */
export const colour = (index: number): string => {
  const colours = isDark() ? DARK : LIGHT;
  return colours[index % colours.length] ?? "#000";
};

/** The colour of a controller's state: −1, 0 or 1. */
export const stateColour = (state: number): string => {
  const colours = isDark() ? STATES.dark : STATES.light;
  return colours[Math.max(-1, Math.min(1, Math.round(state))) + 1] ?? "#0000";
};
