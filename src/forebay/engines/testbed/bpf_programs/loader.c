/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * loader OBJECT...: registers the congestion controls in the objects, says {"event":"registered","name":...}
 * a line each and {"event":"ready"}, and waits until its standard input closes or its parent ends.
 *
 * Each is registered through a link, whose descriptor is all that holds it: when this process ends, however
 * it ends, the kernel takes the congestion control off its list. Sockets that use it keep it until they close.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Kernel 6.4 and later; the distribution's header may be older than that. */
enum { ATTACH_STRUCT_OPS = 44, MAP_WITH_LINK = 1 << 13 };

static char said[4096]; /* the start of what libbpf complains of, the verifier's log included */

static int listen_to_libbpf(enum libbpf_print_level level, const char *format, va_list args)
{
	size_t used = strlen(said);

	if (level == LIBBPF_WARN)
		vsnprintf(said + used, sizeof(said) - used, format, args);
	return 0;
}

static _Noreturn void fail(const char *code, const char *what, const char *name, int error)
{
	printf("{\"event\":\"error\",\"code\":\"%s\",\"name\":\"%s\",\"message\":\"%s: %s\"}\n", code, name,
	       what, strerror(error));
	fflush(stdout);
	fputs(said, stderr);
	exit(1);
}

/* Before 1.2 libbpf only hands the table to the kernel; the link is then ours to make, as often as we like. */
static int register_once(struct bpf_map *map, int first)
{
	int makes_the_link = libbpf_major_version() > 1 || libbpf_minor_version() >= 2;

	if ((first || makes_the_link) && !bpf_map__attach_struct_ops(map))
		return errno;
	if (makes_the_link)
		return 0;
	return bpf_link_create(bpf_map__fd(map), 0, ATTACH_STRUCT_OPS, NULL) < 0 ? errno : 0;
}

/* A killed loader's name stays on the list for some milliseconds: another try is worth it. */
static int register_patiently(struct bpf_map *map)
{
	int error = register_once(map, 1);

	for (int tries = 0; error == EEXIST && tries < 10; tries++) {
		usleep(50000);
		error = register_once(map, 0);
	}
	return error;
}

static void register_map(struct bpf_map *map)
{
	int error = register_patiently(map);

	if (error)
		fail(error == EEXIST ? "name-taken" : "cannot-register", "cannot register it",
		     bpf_map__name(map), error);
	printf("{\"event\":\"registered\",\"name\":\"%s\"}\n", bpf_map__name(map));
}

static void register_object(const char *path)
{
	struct bpf_object *object = bpf_object__open(path);
	struct bpf_map *map;

	if (!object)
		fail("cannot-open", "cannot read the object", path, errno);
	bpf_object__for_each_map(map, object)
		if (bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS)
			bpf_map__set_map_flags(map, MAP_WITH_LINK);
	if (bpf_object__load(object))
		fail("cannot-load", "the kernel does not take it", path, errno);
	bpf_object__for_each_map(map, object)
		if (bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS)
			register_map(map);
}

/* The parent is watched as well: a process that it forked may hold the other end of our input. */
static void wait_for_the_end(int parent)
{
	struct pollfd ends[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = parent, .events = POLLIN}};
	char buffer[64];

	while (poll(ends, 2, -1) > 0 || errno == EINTR) {
		if (ends[1].revents)
			return;
		if (ends[0].revents && read(STDIN_FILENO, buffer, sizeof(buffer)) <= 0)
			return;
	}
}

int main(int count, char **paths)
{
	int parent = syscall(SYS_pidfd_open, getppid(), 0);

	libbpf_set_print(listen_to_libbpf);
	for (int i = 1; i < count; i++)
		register_object(paths[i]);
	puts("{\"event\":\"ready\"}");
	fflush(stdout);
	wait_for_the_end(parent);
	return 0;
}
