// ns-3 (3.37 or newer): n long TCP flows over one drop-tail link.  dumbbell --KEY=VALUE ...
// Prints the same line of readings as dumbbell.tcl, and `limit` means the same: packets with the
// one being sent. A device's queue in ns-3 is without it, so the queue gets one place less.
//
// Equal to ns-2's dumbbell: links, delays, packets of 1500 bytes on the wire, an ACK for every
// packet, a first window of 10, 200 ms as the shortest timeout. Not equal: TcpNewReno here has
// SACK, timestamps and PRR, for without SACK ns-3 stalls on this workload.
#include "ns3/bulk-send-helper.h"
#include "ns3/command-line.h"
#include "ns3/config.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/random-variable-stream.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cstdio>
#include <ctime>
#include <vector>

using namespace ns3;

struct Options
{
    uint32_t n = 100, limit = 129, seed = 1;
    double rate = 155e6, access = 1e9, low = 0.08, high = 0.12, spread = 10, from = 20, to = 60;

    Options(int argc, char** argv)
    {
        CommandLine line;
        line.AddValue("n", "flows", n);
        line.AddValue("limit", "buffer in packets, with the one being sent; at least 2", limit);
        line.AddValue("rate", "of the bottleneck, bit/s", rate);
        line.AddValue("access", "rate of each host's own link, bit/s", access);
        line.AddValue("low", "shortest two-way propagation delay, s", low);
        line.AddValue("high", "longest two-way propagation delay, s", high);
        line.AddValue("spread", "flows start within this time, s", spread);
        line.AddValue("from", "begin of the measurement, s", from);
        line.AddValue("to", "end of the measurement and of the run, s", to);
        line.AddValue("seed", "of the random numbers", seed);
        line.Parse(argc, argv);
    }
};

// What the bottleneck's queue saw so far; the traces of its device call the three methods.
struct Readings
{
    uint64_t sent = 0, bytes = 0, arrived = 0, dropped = 0;
    double area = 0; // packets waiting x seconds

    void Waiting(uint32_t before, uint32_t now)
    {
        const double t = Simulator::Now().GetSeconds();
        area += before * (t - since);
        since = t;
        waiting = now;
    }
    void Sent(Ptr<const Packet> packet)
    {
        ++sent;
        bytes += packet->GetSize();
    }
    void Arrived(Ptr<const Packet>) { ++arrived; }
    void Dropped(Ptr<const Packet>)
    {
        ++arrived;
        ++dropped;
    }
    Readings UntilNow()
    {
        Waiting(waiting, waiting);
        return *this;
    }

  private:
    double since = 0;
    uint32_t waiting = 0;
};

// A router that only looks at the destination: ns-3's own IP routers try every interface and every
// route for each packet, and their cost would hide that of TCP and the queue.
class Router
{
  public:
    Router(uint32_t network, Ptr<NetDevice> trunk) : network(network), trunk(trunk) { Join(trunk); }
    Router(const Router&) = delete;

    // The host with the next free number, counted from 1, is behind this device.
    void Host(Ptr<NetDevice> device)
    {
        hosts.push_back(device);
        Join(device);
    }

  private:
    void Join(Ptr<NetDevice> device)
    {
        device->SetReceiveCallback(MakeCallback(&Router::Forward, this));
    }
    bool Forward(Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t protocol, const Address&)
    {
        Ipv4Header header;
        packet->PeekHeader(header);
        const uint32_t to = header.GetDestination().Get();
        const bool here = to >> 24 == network;
        const Ptr<NetDevice>& device = here ? hosts.at((to & 0xffffff) - 1) : trunk;
        return device->Send(packet->Copy(), device->GetBroadcast(), protocol);
    }

    uint32_t network;
    Ptr<NetDevice> trunk;
    std::vector<Ptr<NetDevice>> hosts;
};

static NetDeviceContainer Connect(Ptr<Node> a, Ptr<Node> b, double rate, double delay)
{
    PointToPointHelper link;
    link.DisableFlowControl(); // the device's queue is the only one
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1000000p"));
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(rate))));
    link.SetChannelAttribute("Delay", TimeValue(Seconds(delay)));
    return link.Install(a, b);
}

// Gives a host its address, network.0.0.0 + number, and sends all it has to say to its router.
static Ipv4Address Settle(Ptr<NetDevice> device, uint32_t network, uint32_t number)
{
    const Ipv4Address own((network << 24) + number);
    Ptr<Ipv4> ip = device->GetNode()->GetObject<Ipv4>();
    const uint32_t interface = ip->AddInterface(device);
    ip->AddAddress(interface, Ipv4InterfaceAddress(own, Ipv4Mask("255.0.0.0")));
    ip->SetUp(interface);
    const Ipv4Address router((network << 24) + 0xfffffe);
    Ipv4StaticRoutingHelper().GetStaticRouting(ip)->SetDefaultRoute(router, interface);
    return own;
}

static constexpr uint32_t kSources = 10, kSinks = 11; // networks
static constexpr uint32_t kSegment = 1500 - 2 - 20 - 32; // PPP, IPv4, TCP with timestamps

static void ConfigureTcp()
{
    const UintegerValue unlimited(4 << 20);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kSegment));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", unlimited);
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", unlimited);
    Config::SetDefault("ns3::TcpSocketBase::MinRto", StringValue("200ms"));
    Config::SetDefault("ns3::BulkSendApplication::MaxBytes", UintegerValue(0));
    Config::SetDefault("ns3::BulkSendApplication::SendSize", UintegerValue(16 * kSegment));
}

static void StartFlow(Ptr<Node> source, Ptr<Node> sink, Ipv4Address address, double start)
{
    const char* tcp = "ns3::TcpSocketFactory";
    const uint16_t port = 5001;
    PacketSinkHelper(tcp, InetSocketAddress(Ipv4Address::GetAny(), port)).Install(sink);
    BulkSendHelper sender(tcp, InetSocketAddress(address, port));
    sender.Install(source).Start(Seconds(start));
}

static void AddFlows(const Options& o, Ptr<Node> left, Ptr<Node> right, Router& in, Router& out)
{
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.SetRoutingHelper(Ipv4StaticRoutingHelper());
    auto random = CreateObject<UniformRandomVariable>();
    for (uint32_t number = 1; number <= o.n; ++number)
    {
        NodeContainer hosts(2);
        stack.Install(hosts);
        const double delay = random->GetValue(o.low, o.high) / 2 - 0.011;
        const auto near = Connect(hosts.Get(0), left, o.access, delay);
        const auto far = Connect(hosts.Get(1), right, o.access, 0.001);
        in.Host(near.Get(1));
        out.Host(far.Get(1));
        Settle(near.Get(0), kSources, number);
        const auto address = Settle(far.Get(0), kSinks, number);
        StartFlow(hosts.Get(0), hosts.Get(1), address, random->GetValue(0, o.spread));
    }
}

static void Watch(Ptr<Queue<Packet>> queue, Readings& readings)
{
    auto waiting = MakeCallback(&Readings::Waiting, &readings);
    queue->TraceConnectWithoutContext("PacketsInQueue", waiting);
    queue->TraceConnectWithoutContext("Enqueue", MakeCallback(&Readings::Arrived, &readings));
    queue->TraceConnectWithoutContext("Dequeue", MakeCallback(&Readings::Sent, &readings));
    queue->TraceConnectWithoutContext("Drop", MakeCallback(&Readings::Dropped, &readings));
}

static Readings RunUntil(double time, Readings& readings)
{
    Simulator::Stop(Seconds(time) - Simulator::Now());
    Simulator::Run();
    return readings.UntilNow();
}

static void Print(const Options& o, const Readings& a, const Readings& b, double cpu)
{
    const double span = o.to - o.from;
    std::printf("utilization=%.5f loss=%.6f queue=%.3f packets=%llu cpu=%.2f\n",
                8.0 * (b.bytes - a.bytes) / (span * o.rate),
                double(b.dropped - a.dropped) / double(b.arrived - a.arrived),
                (b.area - a.area) / span,
                static_cast<unsigned long long>(b.sent),
                cpu);
}

int main(int argc, char** argv)
{
    const Options o(argc, argv);
    RngSeedManager::SetSeed(o.seed);
    ConfigureTcp();
    NodeContainer routers(2);
    const auto trunk = Connect(routers.Get(0), routers.Get(1), o.rate, 0.010);
    Router left(kSources, trunk.Get(0)), right(kSinks, trunk.Get(1));
    AddFlows(o, routers.Get(0), routers.Get(1), left, right);

    auto queue = DynamicCast<PointToPointNetDevice>(trunk.Get(0))->GetQueue();
    queue->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, o.limit - 1));
    Readings readings;
    Watch(queue, readings);

    const std::clock_t began = std::clock(); // CPU time of this process
    const Readings first = RunUntil(o.from, readings);
    const Readings last = RunUntil(o.to, readings);
    Print(o, first, last, double(std::clock() - began) / CLOCKS_PER_SEC);
    std::fflush(stdout);
    std::_Exit(0); // taking the objects apart is no part of the run
}
