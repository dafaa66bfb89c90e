# ns-2: n long TCP flows over one drop-tail link.  ns dumbbell.tcl KEY=VALUE ...
# Prints one line of key=value readings. `limit` counts the packet being sent, as ns-2 does.
array set o {n 100 limit 129 rate 155e6 access 1e9 low 0.08 high 0.12 spread 10 from 20 to 60 seed 1}
foreach given $argv { foreach {key value} [split $given =] { set o($key) $value } }

Agent/TCP set packetSize_ 1460
Agent/TCP set tcpip_base_hdr_size_ 40
Agent/TCP set window_ 100000
Agent/TCP set windowInit_ 10
Agent/TCP set minrto_ 0.2
remove-all-packet-headers
add-packet-header IP TCP Flags

set ns [new Simulator]
$ns rtproto Manual
set random [new RNG]
# A substream a seed: the first numbers after a small seed are all small.
for {set j 1} {$j < $o(seed)} {incr j} { $random next-substream }
set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right $o(rate) 10ms DropTail
$ns queue-limit $left $right $o(limit)
$ns queue-limit $right $left 1000000
set out [[$ns link $left $right] head]
set back [[$ns link $right $left] head]

# A link of a flow's own between its host and a router, with routes both ways through the middle.
proc attach {host router delay} {
    global ns o
    $ns duplex-link $host $router $o(access) $delay DropTail
    $ns queue-limit $host $router 1000000
    $ns queue-limit $router $host 1000000
}
for {set i 0} {$i < $o(n)} {incr i} {
    set source [$ns node]
    set sink [$ns node]
    set rtt [$random uniform $o(low) $o(high)]
    attach $source $left [expr $rtt / 2 - 0.011]
    attach $sink $right 0.001
    $source add-route [$sink id] [[$ns link $source $left] head]
    $left add-route [$sink id] $out
    $right add-route [$sink id] [[$ns link $right $sink] head]
    $sink add-route [$source id] [[$ns link $sink $right] head]
    $right add-route [$source id] $back
    $left add-route [$source id] [[$ns link $left $source] head]
    set tcp [new Agent/TCP/Newreno]
    set receiver [new Agent/TCPSink]
    $ns attach-agent $source $tcp
    $ns attach-agent $sink $receiver
    $ns connect $tcp $receiver
    set file [new Application/FTP]
    $file attach-agent $tcp
    $ns at [$random uniform 0 $o(spread)] "$file start"
}
set monitor [$ns monitor-queue $left $right ""]
set integrator [$monitor get-pkts-integrator]
proc cpu_seconds {} {
    set stat [open /proc/[pid]/stat]
    set fields [gets $stat]
    close $stat
    return [expr ([lindex $fields 13] + [lindex $fields 14]) / 100.0]
}
proc read_all {} {
    global ns monitor integrator
    $integrator newpoint [$ns now] [$integrator set lasty_]
    return [list [$monitor set pdepartures_] [$monitor set parrivals_] [$monitor set pdrops_] [$integrator set sum_]]
}
proc finish {} {
    global ns o first began
    foreach {sent arrived dropped area} [read_all] {sent0 arrived0 dropped0 area0} $first {}
    set span [expr $o(to) - $o(from)]
    puts [format "utilization=%.5f loss=%.6f queue=%.3f packets=%d cpu=%.2f" \
        [expr 12000.0 * ($sent - $sent0) / ($span * $o(rate))] \
        [expr double($dropped - $dropped0) / ($arrived - $arrived0)] \
        [expr ($area - $area0) / $span] [expr int($sent)] [expr [cpu_seconds] - $began]]
    exit 0
}
$ns at $o(from) {set first [read_all]}
$ns at $o(to) finish
set began [cpu_seconds]
$ns run
