use super::super::QueueConfig;

/// Devera's example (HTB Linux queuing discipline manual, 2002 § 3), with its filters.
const MANUAL: &str = "tc qdisc add dev eth0 root handle 1: htb default 12
tc class add dev eth0 parent 1: classid 1:1 htb rate 100kbps ceil 100kbps
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 30kbps ceil 100kbps
tc class add dev eth0 parent 1:1 classid 1:11 htb rate 10kbps ceil 100kbps
tc class add dev eth0 parent 1:1 classid 1:12 htb rate 60kbps ceil 100kbps
tc filter add dev eth0 protocol ip parent 1:0 prio 1 u32 match ip src 1.2.3.4 match ip dport 80 0xffff flowid 1:10
tc filter add dev eth0 protocol ip parent 1:0 prio 1 u32 match ip src 1.2.3.4 flowid 1:11
tc qdisc add dev eth0 parent 1:10 handle 20: pfifo limit 5
tc qdisc add dev eth0 parent 1:11 handle 30: pfifo limit 5
tc qdisc add dev eth0 parent 1:12 handle 40: sfq perturb 10";

const WRITTEN: &str = "tc qdisc add dev eth0 root handle 1: htb default 12 r2q 10 direct_qlen 1000
tc class add dev eth0 parent 1: classid 1:1 htb rate 800kbit ceil 800kbit prio 0 burst 1600 cburst 1600
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 240kbit ceil 800kbit prio 0 burst 1600 cburst 1600
tc class add dev eth0 parent 1:1 classid 1:11 htb rate 80kbit ceil 800kbit prio 0 burst 1600 cburst 1600
tc class add dev eth0 parent 1:1 classid 1:12 htb rate 480kbit ceil 800kbit prio 0 burst 1600 cburst 1600
tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip src 1.2.3.4/32 match ip dport 80 0xffff flowid 1:10
tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip src 1.2.3.4/32 flowid 1:11
tc qdisc add dev eth0 parent 1:10 handle 2: pfifo limit 5
tc qdisc add dev eth0 parent 1:11 handle 3: pfifo limit 5
tc qdisc add dev eth0 parent 1:12 handle 4: sfq limit 127 depth 127 divisor 1024 quantum 1514 perturb 10";

fn read(text: &str) -> QueueConfig {
    text.parse().unwrap_or_else(|error| panic!("{text}\n{error}"))
}

#[test]
fn the_script_of_a_manual_is_parsed_and_written_back() {
    let config = read(MANUAL);
    assert_eq!(config.to_string(), WRITTEN);
    assert_eq!(read(WRITTEN), config);
}

#[test]
fn shell_syntax_around_tc_is_supported() {
    let plain = read(
        "tc qdisc add dev eth0 root handle 1: tbf rate 1mbit burst 5kb latency 70ms
        tc qdisc add dev eth0 parent 1:1 fq_codel",
    );
    let dressed = "#!/bin/sh
        # the uplink
        DEV=eth0; UP=1
        export RATE=\"${UP}mbit\"
        sudo /sbin/tc qdisc del dev $DEV root 2>/dev/null
        tc qdisc replace dev $DEV root handle 1: tbf rate $RATE \\
            burst 5kb latency 70ms   # 1 Mbit/s
        tc qdisc add dev \"$DEV\" parent 1: fq_codel || exit 1";
    assert_eq!(read(dressed), plain);
    assert_eq!(
        read("# tc qdisc add dev ppp0 root sfq perturb 10"),
        read("$ tc qdisc add dev ppp0 root sfq perturb 10")
    );
    let joined = "TC=/sbin/tc
        U32=\"$TC filter add dev eth0 parent 1: protocol ip prio 1 u32\"
        DEV=eth0 $TC qdisc add dev eth0 root handle 1: htb && $TC class add dev eth0 parent 1: classid 1:1 htb rate 1mbit prio 9 || exit 1
        $U32 match ip dport 22 ffff flowid 1:1\t# as LARTC does
        tc class replace dev eth0 parent 1: classid 1:1 htb rate 2mbit";
    let QueueConfig::Htb(htb) = read(joined) else { panic!("{joined}") };
    assert_eq!((htb.classes.len(), htb.filters.len()), (1, 1));
    assert_eq!(htb.classes[0].rate, units::Bitrate::from_mbps(2));
    let flower = "tc qdisc add dev x root handle 1: htb
        tc class add dev x parent 1: classid 1:a htb rate 1mbit
        tc filter add dev x protocol ip flower ip_proto udp ip_tos 0xb8/0xfc dst_port 5004 classid 1:a
        tc filter add dev x protocol ipv6 prio 7 u32 match ip6 priority 0xb8 0xfc flowid 1:a
        tc filter add dev x matchall flowid 1:";
    let written = read(flower).to_string();
    let filters: Vec<&str> = written.lines().filter(|line| line.contains("filter")).collect();
    assert_eq!(
        filters,
        [
            "tc filter add dev eth0 parent 1: protocol ipv6 prio 7 u32 match ip6 priority 0xb8 0xfc flowid 1:a",
            "tc filter add dev eth0 parent 1: protocol all prio 49151 matchall flowid 1:0",
            "tc filter add dev eth0 parent 1: protocol ip prio 49152 u32 match ip protocol 17 0xff match ip dsfield 0xb8 0xfc match ip dport 5004 0xffff flowid 1:a",
        ]
    );
    assert_eq!(read(&written), read(flower));
}

#[test]
fn errors_name_the_line_and_suggest_a_fix() {
    let root = "tc qdisc add dev eth0 root handle 1: htb default 10\n";
    let classes = format!("{root}tc class add dev eth0 parent 1: classid 1:1 htb rate 1mbit\n");
    let error = |text: &str| text.parse::<QueueConfig>().unwrap_err().to_string();
    let after = |line: &str| error(&format!("{classes}{line}"));
    for (line, start) in [
        (
            "tc class add dev eth0 parent 1:1 classid 1:10 htb rate 2mbit",
            "line 3: rate 2Mbit of class 1:10 is above the ceil of its parent 1:1, 1Mbit; lower",
        ),
        (
            "tc class add dev eth0 parent 1:1 classid 1:10 htb rate 1kbit ceil 2mbit",
            "line 3: ceil 2Mbit of class 1:10 is above",
        ),
        (
            "tc class add dev eth0 parent 1:1 classid 1:10 htb rate 2kbit ceil 1kbit",
            "line 3: htb: a ceil of 1kbit is below the rate of 2kbit",
        ),
        (
            "tc class add dev eth0 parent 1:1 classid 1:10 htb rat 1mbit",
            "line 3: htb: no parameter 'rat'; write 'htb rate",
        ),
        (
            "tc class add dev eth0 parent 1:1 classid 1:10 htb rate 1mbits",
            "line 3: htb: '1mbits' is not a value of 'rate'",
        ),
        (
            "tc class add dev eth0 parent 1:1 classid 1:10 htb prio 1",
            "line 3: htb: 'rate' is missing",
        ),
        (
            "tc class add dev eth0 parent 1:1 classid 1:10 hfsc rate 1mbit",
            "line 3: no class 'hfsc'",
        ),
        (
            "tc class add dev eth0 parent 1:2 classid 1:10 htb rate 1mbit",
            "line 3: there is no class 1:2 above; add it first",
        ),
        (
            "tc class add dev eth0 parent 1:2 classid 1:2 htb rate 1mbit",
            "line 3: class 1:2 is its own parent",
        ),
        (
            "tc class add dev eth0 parent 1: classid 1:1 htb rate 1mbit",
            "line 3: there is a class 1:1 already",
        ),
        (
            "tc class add dev eth0 parent 2: classid 2:1 htb rate 1mbit",
            "line 3: there is no qdisc 2: above",
        ),
        (
            "tc class add dev eth0 parent 1: classid 2:1 htb rate 1mbit",
            "line 3: classid 2:1 is not one of qdisc 1:",
        ),
        ("tc qdisc add dev eth0 root pfifo", "line 3: there is a root already, in line 1"),
        (
            "tc qdisc add dev eth0 parent 1:1 handle 1: pfifo",
            "line 3: handle 1: is in use since line 1",
        ),
        ("tc qdisc add dev eth0 parent 1:9 pfifo", "line 3: there is no class 1:9 above"),
        ("tc qdisc add dev eth1 parent 1:1 pfifo", "line 3: dev eth1: the queue belongs to eth0"),
        (
            "tc qdisc add dev eth0 parent 1:1 pfifo limit many",
            "line 3: pfifo: 'many' is not a value of 'limit'",
        ),
        ("tc qdisc add dev eth0 parent 1:1 noqueue", "line 3: no queue 'noqueue': there are"),
        ("tc qdisc del dev eth0 root", "line 3: 'del' would remove what was added above"),
        ("tc -s qdisc show", "line 3: 'tc -s' is not supported"),
        ("tc qdisc show dev eth0", "line 3: 'show' is not supported"),
        ("tc filter add dev eth0 parent 1: handle 4 fw flowid 1:1", "line 3: no classifier 'fw'"),
        (
            "tc filter add dev eth0 parent 1: u32 match u8 0x10 0xff at 33 flowid 1:1",
            "line 3: u32: 'match u8': a match at an offset is not supported; leave",
        ),
        ("tc qdisc add dev eth0 ingress", "line 3: incoming packets wait in no queue"),
        ("tc qdisc add dev eth0 handle ffff: ingress", "line 3: incoming packets wait in no queue"),
        (
            "tc qdisc add dev eth0 parent 1:1 netem delay 20ms",
            "line 3: netem is not a queue here: a line has 'delay'",
        ),
        (
            "tc qdisc add dev eth0 parent 1:1 droptail limit 150ms",
            "line 3: 'droptail' is not a word of tc; write 'bfifo",
        ),
        (
            "tc qdisc add dev eth0 parent 1:1 stab overhead 18 pfifo",
            "line 3: 'stab' is not supported; write 'overhead",
        ),
        (
            "tc qdisc add dev eth0 parent 1:1 pfifo limit $((9*9))",
            "line 3: '$(': arithmetic is not supported; write the result",
        ),
        (
            "tc qdisc add dev ${1:-eth0} parent 1:1 pfifo",
            "line 3: '$1:-eth0' is not known; write its value",
        ),
        ("false || tc qdisc add dev eth0 parent 1:1 pfifo", "line 3: 'false' is not tc"),
        (
            "tc qdisc add dev eth0 parent 1:1 pfifo | tc qdisc show",
            "line 3: a tc after '|'; write it on a separate line",
        ),
        (
            "tc filter add dev eth0 parent 1: fw flowid 1:1",
            "line 3: no classifier 'fw'; write it as 'u32 match ip dsfield",
        ),
        (
            "tc filter add dev eth0 parent 1: u32 match ip dsfield 0xb8 0xfc flowid 1:7",
            "line 3: there is no class 1:7 above",
        ),
        (
            "tc filter add dev eth0 parent 1: u32 match ip dsfield 0x1b8 0xfc flowid 1:1",
            "line 3: u32: 'dsfield' is 0xff at most",
        ),
        (
            "tc filter add dev eth0 parent 1: u32 match ip dst 10.0.0.256 flowid 1:1",
            "line 3: u32: '10.0.0.256' is not a value of 'dst'",
        ),
        ("tc filter add dev eth0 parent 1: u32 flowid 1:1", "line 3: u32: 'match' is missing"),
        (
            "tc filter add dev eth0 parent 1:1 matchall flowid 1:1",
            "line 3: 1:1 is not below 1:1: it would form a loop",
        ),
        (
            "tc filter add dev eth0 parent 1: protocol arp matchall flowid 1:1",
            "line 3: protocol 'arp' is not supported",
        ),
        ("tc class add dev eth0 classid 1:1", "line 3: the kind is missing"),
        ("tc class add parent 1: classid 1:1 htb", "line 3: 'dev' is missing"),
        ("iptables -t mangle -A POSTROUTING", "line 3: 'iptables' is not tc; leave the line out"),
        ("tc qdisc add dev $IF parent 1:1 pfifo", "line 3: $IF has no value; write 'IF=…' above"),
        ("tc qdisc add dev eth0 \\", "line 3: a '\\' at the end, and no line after it"),
    ] {
        assert!(after(line).starts_with(start), "{line}\n  {}", after(line));
    }
    assert!(
        error(&format!("{root}tc qdisc add dev eth0 parent 1: pfifo"))
            .starts_with("line 2: there is no class 1:0")
    );
    let classless =
        "tc qdisc add dev eth0 root handle 1: sfq\ntc qdisc add dev eth0 parent 1:1 pfifo";
    assert!(
        error(classless).starts_with("line 2: qdisc 1: is 'sfq limit 127"),
        "{}",
        error(classless)
    );
    let twice = format!(
        "{classes}tc qdisc add dev eth0 parent 1:1 pfifo\ntc qdisc add dev eth0 parent 1:1 sfq"
    );
    assert!(error(&twice).starts_with("line 4: 1:1 has a queue already, in line 3"));
    let children = format!(
        "{classes}tc qdisc add dev eth0 parent 1:1 pfifo\ntc class add dev eth0 parent 1:1 classid 1:2 htb rate 1kbit"
    );
    assert!(
        error(&children).starts_with("line 4: 1:1 has a queue, in line 3: it cannot have classes")
    );
    assert!(error("tc qdisc del dev eth0 root").starts_with("the script adds no queue"));
}
