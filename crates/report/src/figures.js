(() => {
  const NS = "http://www.w3.org/2000/svg";
  // Units of a drawing per CSS pixel, and pixels of a PNG per CSS pixel.
  const UNITS = 4;
  const PIXELS = 3;
  // The colours of white paper, whatever the page has.
  const style =
    document.getElementById("plot-style").textContent.replace(/var\(--\w+,([^)]+)\)/g, "$1") +
    ".plot text{font-family:Roboto,Arial,Helvetica,Liberation Sans,DejaVu Sans,sans-serif}";

  const drawing = (figure) => {
    const plot = figure.querySelector("svg.plot").cloneNode(true);
    const [, , width, height] = plot.getAttribute("viewBox").split(" ").map(Number);
    plot.setAttribute("width", width / UNITS);
    plot.setAttribute("height", height / UNITS);
    const rules = document.createElementNS(NS, "style");
    rules.textContent = style;
    const paper = document.createElementNS(NS, "rect");
    for (const [name, value] of Object.entries({ width: "100%", height: "100%", fill: "#fff" })) paper.setAttribute(name, value);
    plot.prepend(rules, paper);
    return { text: new XMLSerializer().serializeToString(plot), width: width / UNITS, height: height / UNITS };
  };

  const files = {
    svg: async (figure) => new Blob([drawing(figure).text], { type: "image/svg+xml" }),
    png: async (figure) => {
      const { text, width, height } = drawing(figure);
      const image = new Image();
      image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
      await image.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [width * PIXELS, height * PIXELS];
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      return new Promise((done) => canvas.toBlob(done, "image/png"));
    },
    csv: async (figure) => {
      const packed = Uint8Array.from(atob(figure.dataset.csv), (letter) => letter.charCodeAt(0));
      const values = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
      return new Blob([await new Response(values).blob()], { type: "text/csv" });
    },
  };

  const save = async (button) => {
    const figure = button.closest("figure");
    const kind = button.dataset.as;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await files[kind](figure));
    link.download = `${figure.id.replace(/^fig-/, "")}.${kind}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  };
  for (const line of document.querySelectorAll(".save")) {
    line.hidden = false;
    line.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) save(button);
    });
  }

  // A table that does not fit says so, and can be scrolled with the keyboard.
  const areas = [...document.querySelectorAll(".scroll")];
  const mark = () => {
    for (const area of areas) {
      const more = area.scrollWidth > area.clientWidth + 1;
      area.classList.toggle("more", more);
      area.tabIndex = more ? 0 : -1;
    }
  };
  mark();
  addEventListener("resize", mark);
  for (const details of document.querySelectorAll("details")) details.addEventListener("toggle", mark);
})();
