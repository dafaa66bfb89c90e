// The transfers of a table over a fat tree of 16 hosts in ns-3: prints the completion time of each.
//
//   g++ -O2 -std=c++17 fat_tree.cc -o fat_tree -lns3-core -lns3-network -lns3-internet -lns3-point-to-point \
//       -lns3-traffic-control
//   ./fat_tree TABLE.csv > completed.csv
//
// TABLE.csv has start_s,packets,source,target,path: hosts 0 to 15 and one of four paths, each over its own core
// switch. A host has an address for each path; switches route by it, so that data and ACKs cross the same links.

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <unordered_map>
#include <vector>

using namespace ns3;

// ns-3 looks for a packet's socket among all of its host, one after the other: half of the time with a thousand
// sockets a host. This definition is found before the library's and gives what that gives for sockets that are
// bound to an address and a port: the connected one, else the one that listens.
Ipv4EndPointDemux::EndPoints Ipv4EndPointDemux::Lookup(Ipv4Address daddr, uint16_t dport, Ipv4Address saddr,
                                                       uint16_t sport, Ptr<Ipv4Interface>) {
  using ByPort = std::unordered_multimap<uint16_t, Ipv4EndPoint*>;
  static std::unordered_map<Ipv4EndPointDemux*, ByPort> known;
  ByPort& sockets = known[this];
  if (sockets.size() != m_endPoints.size()) {
    sockets.clear();
    for (Ipv4EndPoint* each : m_endPoints) sockets.emplace(each->GetLocalPort(), each);
  }
  EndPoints listens;
  auto [first, last] = sockets.equal_range(dport);
  for (auto each = first; each != last; ++each) {
    Ipv4EndPoint* socket = each->second;
    if (!socket->IsRxEnabled() || socket->GetLocalAddress() != daddr) continue;
    if (socket->GetPeerPort() == sport && socket->GetPeerAddress() == saddr) return {socket};
    if (socket->GetPeerPort() == 0) listens.push_back(socket);
  }
  return listens;
}

namespace {

constexpr uint32_t kPayload = 1448;
constexpr double kBefore = 2.0;  // seconds in which all connections are opened, before the first transfer

struct Transfer {
  double start;
  uint64_t bytes;
  uint32_t source, target, path;
  Ptr<Socket> sender;
  uint64_t sent = 0, received = 0;
  double ended = -1.0;
};

std::vector<Transfer> transfers;

// The round trip of the handshake is no sample: the simulator that this is compared with has no handshake.
class AfterHandshake : public RttMeanDeviation {
 public:
  static TypeId GetTypeId() {
    static TypeId id = TypeId("ns3::AfterHandshake").SetParent<RttMeanDeviation>().AddConstructor<AfterHandshake>();
    return id;
  }
  void Measurement(Time rtt) override {
    if (m_open) RttMeanDeviation::Measurement(rtt);
    m_open = true;
  }
  Ptr<RttEstimator> Copy() const override { return CopyObject<AfterHandshake>(this); }

 private:
  bool m_open = false;
};
NS_OBJECT_ENSURE_REGISTERED(AfterHandshake);

Ipv4Address AddressOf(uint32_t host, uint32_t path) {
  std::ostringstream text;
  text << "10.200." << host << "." << path + 1;
  return Ipv4Address(text.str().c_str());
}

// A host answers, and sends, from its address of the path that the other end's address names.
class HostRouting : public Ipv4StaticRouting {
 public:
  explicit HostRouting(uint32_t host) : m_host(host) {}
  Ptr<Ipv4Route> RouteOutput(Ptr<Packet> packet, const Ipv4Header& header, Ptr<NetDevice> device,
                             Socket::SocketErrno& error) override {
    Ptr<Ipv4Route> route = Ipv4StaticRouting::RouteOutput(packet, header, device, error);
    if (route) route->SetSource(AddressOf(m_host, header.GetDestination().Get() % 256 - 1));
    return route;
  }

 private:
  uint32_t m_host;
};

void Fill(uint32_t index) {
  Transfer& each = transfers[index];
  while (each.sent < each.bytes) {
    uint32_t room = std::min<uint64_t>(each.bytes - each.sent, each.sender->GetTxAvailable());
    if (room == 0) return;
    int taken = each.sender->Send(Create<Packet>(room));
    if (taken <= 0) return;
    each.sent += taken;
  }
}

void OnReceive(uint32_t index, Ptr<Socket> socket) {
  Transfer& each = transfers[index];
  while (Ptr<Packet> packet = socket->Recv()) {
    if (packet->GetSize() == 0) break;
    each.received += packet->GetSize();
  }
  if (each.received == each.bytes && each.ended < 0) each.ended = Simulator::Now().GetSeconds();
}

void OnAccept(uint32_t index, Ptr<Socket> socket, const Address&) {
  socket->SetRecvCallback(MakeBoundCallback(&OnReceive, index));
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc < 2) return 2;
  AfterHandshake::GetTypeId();
  Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
  Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue("ns3::TcpClassicRecovery"));
  Config::SetDefault("ns3::TcpL4Protocol::RttEstimatorType", StringValue("ns3::AfterHandshake"));
  Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kPayload));
  Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
  Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
  Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(64 << 20));
  Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(64 << 20));
  Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
  Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));

  std::ifstream table(argv[1]);
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream row(line);
    Transfer each;
    uint64_t packets;
    row >> each.start >> packets >> each.source >> each.target >> each.path;
    each.bytes = packets * kPayload;
    transfers.push_back(each);
  }

  NodeContainer hosts, edges, tops, cores;
  hosts.Create(16), edges.Create(8), tops.Create(8), cores.Create(4);
  InternetStackHelper internet;
  Ipv4StaticRoutingHelper statics;
  internet.SetRoutingHelper(statics);
  for (auto* group : {&hosts, &edges, &tops, &cores}) internet.Install(*group);
  for (uint32_t host = 0; host < 16; ++host)
    hosts.Get(host)->GetObject<Ipv4>()->SetRoutingProtocol(CreateObject<HostRouting>(host));

  PointToPointHelper wire;
  wire.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
  wire.SetChannelAttribute("Delay", StringValue("10us"));
  wire.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100p"));
  Ipv4AddressHelper numbers("10.0.0.0", "255.255.255.252");
  auto join = [&](Ptr<Node> a, Ptr<Node> b) {
    NetDeviceContainer both = wire.Install(a, b);
    numbers.Assign(both);
    TrafficControlHelper().Uninstall(both);
    numbers.NewNetwork();
    return std::make_pair(both.Get(0)->GetIfIndex(), both.Get(1)->GetIfIndex());
  };
  auto interface = [](Ptr<Node> node, uint32_t device) {
    return node->GetObject<Ipv4>()->GetInterfaceForDevice(node->GetDevice(device));
  };
  auto route = [&](Ptr<Node> node, uint32_t host, uint32_t path, uint32_t device) {
    statics.GetStaticRouting(node->GetObject<Ipv4>())
        ->AddHostRouteTo(AddressOf(host, path), interface(node, device));
  };

  // Devices: of an edge switch towards its two hosts and its two tops, and so on.
  uint32_t host_up[16], edge_down[8][2], edge_up[8][2], top_down[8][2], top_up[8][2], core_down[4][4];
  for (uint32_t host = 0; host < 16; ++host)
    std::tie(host_up[host], edge_down[host / 2][host % 2]) = join(hosts.Get(host), edges.Get(host / 2));
  for (uint32_t edge = 0; edge < 8; ++edge)
    for (uint32_t i = 0; i < 2; ++i)
      std::tie(edge_up[edge][i], top_down[edge / 2 * 2 + i][edge % 2]) =
          join(edges.Get(edge), tops.Get(edge / 2 * 2 + i));
  for (uint32_t top = 0; top < 8; ++top)
    for (uint32_t i = 0; i < 2; ++i)
      std::tie(top_up[top][i], core_down[top % 2 * 2 + i][top / 2]) =
          join(tops.Get(top), cores.Get(top % 2 * 2 + i));

  for (uint32_t host = 0; host < 16; ++host) {
    Ptr<Ipv4> ipv4 = hosts.Get(host)->GetObject<Ipv4>();
    uint32_t own = interface(hosts.Get(host), host_up[host]);
    for (uint32_t path = 0; path < 4; ++path) {
      ipv4->AddAddress(own, Ipv4InterfaceAddress(AddressOf(host, path), Ipv4Mask("255.255.255.255")));
      for (uint32_t other = 0; other < 16; ++other)
        if (other != host) route(hosts.Get(other), host, path, host_up[other]);
      for (uint32_t edge = 0; edge < 8; ++edge)
        route(edges.Get(edge), host, path,
              edge == host / 2 ? edge_down[edge][host % 2] : edge_up[edge][path / 2]);
      for (uint32_t top = 0; top < 8; ++top)
        route(tops.Get(top), host, path,
              top / 2 == host / 4 ? top_down[top][host / 2 % 2] : top_up[top][path % 2]);
      for (uint32_t core = 0; core < 4; ++core) route(cores.Get(core), host, path, core_down[core][host / 4]);
    }
  }

  for (uint32_t i = 0; i < transfers.size(); ++i) {
    Transfer& each = transfers[i];
    uint16_t port = 1024 + i;
    Ptr<Socket> listener = Socket::CreateSocket(hosts.Get(each.target), TcpSocketFactory::GetTypeId());
    listener->Bind(InetSocketAddress(AddressOf(each.target, each.path), port));
    listener->Listen();
    listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                MakeBoundCallback(&OnAccept, i));
    each.sender = Socket::CreateSocket(hosts.Get(each.source), TcpSocketFactory::GetTypeId());
    each.sender->Bind(InetSocketAddress(AddressOf(each.source, each.path), port));
    Address to = InetSocketAddress(AddressOf(each.target, each.path), port);
    Ptr<Socket> sender = each.sender;
    Simulator::Schedule(Seconds(i * 0.9 * kBefore / transfers.size()), [sender, to] { sender->Connect(to); });
    Simulator::Schedule(Seconds(kBefore + each.start), &Fill, i);
  }
  double last = 0;
  for (const Transfer& each : transfers) last = std::max(last, each.start);
  Simulator::Stop(Seconds(kBefore + last + 60));
  Simulator::Run();
  std::printf("row,completed_s\n");
  for (uint32_t i = 0; i < transfers.size(); ++i)
    std::printf("%u,%.9f\n", i, transfers[i].ended < 0 ? -1.0 : transfers[i].ended - kBefore - transfers[i].start);
  Simulator::Destroy();
}
