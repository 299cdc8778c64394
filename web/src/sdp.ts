// Session descriptions between a browser and a P-CSCF.

/** What a browser writes for media (RFC 8829 § 5.1.2), and what the module for Rx of Kamailio 5.6 understands. */
const BROWSER_PROFILE = "UDP/TLS/RTP/SAVPF";
const ACCESS_PROFILE = "RTP/SAVP";

/**
 * The description that goes to the P-CSCF: with an address for the whole session, the profile that its
 * module for Rx understands, and the bandwidth of each medium in kbit/s (b=AS, RFC 8866 § 5.8), from which
 * the guaranteed bit rate follows. DTLS-SRTP and ICE are negotiated all the same, by their own attributes.
 */
export function accessDescription(sdp: string, address: string, bandwidths: Partial<Record<string, number>>): string {
  const sections = sdp.split(/^(?=m=)/m);
  return sections
    .map((section, index) => {
      if (index === 0) return section.includes("\nc=") ? section : section.replace(/^t=/m, `c=IN IP4 ${address}\r\nt=`);
      const bandwidth = bandwidths[/^m=(\w+)/.exec(section)?.[1] ?? ""];
      const plain = section.replace(` ${BROWSER_PROFILE} `, ` ${ACCESS_PROFILE} `);
      return bandwidth ? plain.replace(/^c=.*\r\n/m, (line) => `${line}b=AS:${bandwidth}\r\n`) : plain;
    })
    .join("");
}

/** The description for the browser. */
export function browserDescription(sdp: string): string {
  return sdp.replace(/^(m=\w+ \d+ )RTP\/SAVPF? /gm, `$1${BROWSER_PROFILE} `);
}
