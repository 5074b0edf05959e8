// Minimal kubelet for a node of scripts/testbed, to test Kubernetes on one machine. It registers the
// node, runs its pods, each with its own namespaces and root folder, answers `kubectl exec`, and ends
// deleted pods. A pod has one container, whose image is one program; its volumes are empty folders.
// control-plane builds it among the sources of Kubernetes and starts it on each node.
package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	consts "k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/cert"
	streaming "k8s.io/kubernetes/pkg/kubelet/cri/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

const (
	port    = 10250
	program = "/usr/bin/proofmark"
	// Interval of the node's heartbeat; the controllers call it lost after 40 s.
	heartbeat = 10 * time.Second
	// Idle timeout of an exec, as with a kubelet.
	silence = 4 * time.Hour
)

type node struct {
	name, address, image, binary string
	api                          kubernetes.Interface
	lock                         sync.Mutex
	// First processes of running pods.
	pods map[types.UID]*exec.Cmd
	// Pods whose deletion was seen.
	ending map[types.UID]bool
}

func main() {
	if len(os.Args) > 4 && os.Args[1] == "pod" {
		enter(os.Args[2], os.Args[3], os.Args[4:])
	}
	if len(os.Args) != 6 {
		fmt.Fprintln(os.Stderr, "nodes KUBECONFIG NAME ADDRESS IMAGE BINARY")
		os.Exit(2)
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	must(err)
	n := &node{
		name: os.Args[2], address: os.Args[3], image: os.Args[4], binary: os.Args[5],
		api:    kubernetes.NewForConfigOrDie(config),
		pods:   map[types.UID]*exec.Cmd{},
		ending: map[types.UID]bool{},
	}
	go n.serve()
	go n.live()
	for {
		n.watch()
		time.Sleep(time.Second)
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func log(what string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
	}
}

// Registers the node and repeats that it is ready.
func (n *node) live() {
	there := resource.MustParse
	has := core.ResourceList{"cpu": there("2"), "memory": there("4Gi"), "pods": there("10")}
	nodes := n.api.CoreV1().Nodes()
	for ; ; time.Sleep(heartbeat) {
		made, err := nodes.Get(context.TODO(), n.name, meta.GetOptions{})
		if err != nil {
			made, err = nodes.Create(context.TODO(), &core.Node{ObjectMeta: meta.ObjectMeta{
				Name: n.name, Labels: map[string]string{core.LabelHostname: n.name},
			}}, meta.CreateOptions{})
		}
		if err != nil {
			log("node", err)
			continue
		}
		made.Status.Capacity, made.Status.Allocatable = has, has
		made.Status.Addresses = []core.NodeAddress{{Type: core.NodeInternalIP, Address: n.address}}
		made.Status.DaemonEndpoints.KubeletEndpoint.Port = port
		made.Status.Conditions = []core.NodeCondition{{
			Type: core.NodeReady, Status: core.ConditionTrue, Reason: "Testbed",
			LastHeartbeatTime: meta.Now(), LastTransitionTime: made.CreationTimestamp,
		}}
		_, err = nodes.UpdateStatus(context.TODO(), made, meta.UpdateOptions{})
		log("heartbeat", err)
	}
}

// Follows the pods of this node until the API server ends the list.
func (n *node) watch() {
	own := meta.ListOptions{FieldSelector: "spec.nodeName=" + n.name}
	seen, err := n.api.CoreV1().Pods("").Watch(context.TODO(), own)
	if err != nil {
		log("pods", err)
		return
	}
	for event := range seen.ResultChan() {
		pod, ok := event.Object.(*core.Pod)
		if !ok || event.Type == "DELETED" {
			continue
		}
		n.lock.Lock()
		process, runs := n.pods[pod.UID]
		switch {
		case pod.DeletionTimestamp != nil && !n.ending[pod.UID]:
			n.ending[pod.UID] = true
			go n.end(pod, process)
		case pod.DeletionTimestamp == nil && pod.Status.Phase == core.PodPending && !runs:
			if len(pod.Status.ContainerStatuses) == 0 {
				n.start(pod)
			}
		}
		n.lock.Unlock()
	}
}

// Starts a pod's process and follows it.
func (n *node) start(pod *core.Pod) {
	container := pod.Spec.Containers[0]
	if container.Image != n.image {
		message := fmt.Sprintf("failed to pull and unpack image %q: not found", container.Image)
		n.tell(pod, core.PodPending, core.ContainerState{
			Waiting: &core.ContainerStateWaiting{Reason: "ErrImagePull", Message: message},
		})
		return
	}
	folder := filepath.Join(os.TempDir(), "pod-"+string(pod.UID))
	must(os.MkdirAll(filepath.Join(folder, "root"), 0o755))
	args := []string{"pod", folder, n.binary}
	for _, mount := range container.VolumeMounts {
		args = append(args, mount.MountPath)
	}
	args = append(append(args, "--", program), container.Args...)
	process := exec.Command("/proc/self/exe", args...)
	process.Env = []string{"PATH=/usr/bin", "HOSTNAME=" + pod.Name}
	process.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
	}
	process.Stdout, process.Stderr = os.Stderr, os.Stderr
	must(process.Start())
	n.pods[pod.UID] = process
	began := meta.Now()
	go func() {
		n.tell(pod, core.PodRunning, core.ContainerState{
			Running: &core.ContainerStateRunning{StartedAt: began},
		})
		phase, reason := core.PodSucceeded, "Completed"
		if process.Wait() != nil {
			phase, reason = core.PodFailed, "Error"
		}
		log("folder", os.RemoveAll(folder))
		n.tell(pod, phase, core.ContainerState{Terminated: &core.ContainerStateTerminated{
			ExitCode: int32(code(process)), Reason: reason, StartedAt: began, FinishedAt: meta.Now(),
		}})
		n.lock.Lock()
		delete(n.pods, pod.UID)
		n.lock.Unlock()
	}()
}

// Returns the exit code of an ended process as a shell does.
func code(process *exec.Cmd) int {
	status := process.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// Reports the status of a pod to the API server.
func (n *node) tell(pod *core.Pod, phase core.PodPhase, state core.ContainerState) {
	runs := state.Running != nil
	ready := core.ConditionFalse
	if runs {
		ready = core.ConditionTrue
	}
	now, container := meta.Now(), pod.Spec.Containers[0]
	current := pod.DeepCopy()
	status := &current.Status
	if status.StartTime == nil {
		status.StartTime = &now
	}
	status.Phase, status.HostIP, status.PodIP = phase, n.address, n.address
	status.PodIPs = []core.PodIP{{IP: n.address}}
	conditions := []core.PodCondition{}
	for _, one := range status.Conditions {
		if one.Type == core.PodScheduled {
			conditions = append(conditions, one)
		}
	}
	for _, kind := range []core.PodConditionType{core.PodReady, core.ContainersReady} {
		conditions = append(conditions, core.PodCondition{Type: kind, Status: ready, LastTransitionTime: now})
	}
	status.Conditions = conditions
	status.ContainerStatuses = []core.ContainerStatus{{
		Name: container.Name, Image: container.Image, Ready: runs, Started: &runs, State: state,
	}}
	text, err := json.Marshal(map[string]interface{}{"metadata": map[string]types.UID{"uid": pod.UID}, "status": status})
	must(err)
	pods := n.api.CoreV1().Pods(pod.Namespace)
	_, err = pods.Patch(context.TODO(), pod.Name, types.StrategicMergePatchType, text, meta.PatchOptions{}, "status")
	log("status of "+pod.Name, err)
}

// Ends a pod's process, by force after its grace period, and removes the pod.
func (n *node) end(pod *core.Pod, process *exec.Cmd) {
	grace := time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if !n.runs(pod) {
			break
		}
		_ = process.Process.Signal(signal)
		for until := time.Now().Add(grace + time.Second); n.runs(pod) && time.Now().Before(until); {
			time.Sleep(50 * time.Millisecond)
		}
	}
	var now int64
	log("delete", n.api.CoreV1().Pods(pod.Namespace).Delete(context.TODO(), pod.Name, meta.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: &meta.Preconditions{UID: &pod.UID},
	}))
}

func (n *node) runs(pod *core.Pod) bool {
	n.lock.Lock()
	defer n.lock.Unlock()
	return n.pods[pod.UID] != nil
}

// Creates a root folder with one program and becomes the pod's first process there. Its mounts end with
// this mount namespace.
func enter(folder, binary string, rest []string) {
	root := filepath.Join(folder, "root")
	must(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	must(unix.Mount("tmpfs", root, "tmpfs", 0, "mode=755"))
	at := func(path string) string { return filepath.Join(root, path) }
	bind := func(from, to string) { must(unix.Mount(from, at(to), "", unix.MS_BIND|unix.MS_REC, "")) }
	for _, path := range []string{"/dev", "/sys", "/proc", filepath.Dir(program)} {
		must(os.MkdirAll(at(path), 0o755))
	}
	must(os.WriteFile(at(program), nil, 0o755))
	bind(binary, program)
	bind("/dev", "/dev")
	bind("/sys", "/sys")
	for ; rest[0] != "--"; rest = rest[1:] {
		volume := filepath.Join(folder, "volume", rest[0])
		must(os.MkdirAll(volume, 0o777))
		must(os.MkdirAll(at(rest[0]), 0o777))
		bind(volume, rest[0])
	}
	must(unix.Mount("proc", at("/proc"), "proc", 0, ""))
	must(unix.Sethostname([]byte(os.Getenv("HOSTNAME"))))
	must(os.Chdir(root))
	must(unix.PivotRoot(".", "."))
	must(unix.Unmount(".", unix.MNT_DETACH))
	must(os.Chdir("/"))
	must(syscall.Exec(rest[1], rest[1:], os.Environ()))
}

// Answers the API server, which forwards kubectl's requests:
// POST /exec/NAMESPACE/POD/CONTAINER?command=...
func (n *node) serve() {
	text, key, err := cert.GenerateSelfSignedCertKey(n.name, nil, nil)
	must(err)
	pair, err := tls.X509KeyPair(text, key)
	must(err)
	mux := http.NewServeMux()
	mux.HandleFunc("/exec/", func(w http.ResponseWriter, r *http.Request) {
		path := strings.Split(strings.TrimPrefix(r.URL.Path, "/exec/"), "/")
		options, err := streaming.NewOptions(r)
		if err != nil || len(path) != 3 {
			http.Error(w, "no such exec", http.StatusBadRequest)
			return
		}
		pod, err := n.api.CoreV1().Pods(path[0]).Get(context.TODO(), path[1], meta.GetOptions{})
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		streaming.ServeExec(w, r, n, pod.Name, pod.UID, path[2], r.URL.Query()["command"], options,
			silence, consts.DefaultStreamCreationTimeout, consts.SupportedStreamingProtocols)
	})
	server := &http.Server{
		Addr: ":" + strconv.Itoa(port), Handler: mux,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}},
		// Streaming needs HTTP/1.1.
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
	}
	must(server.ListenAndServeTLS("", ""))
}

// ExecInContainer runs a command in the namespaces of a pod's first process. As with other runtimes,
// it is not killed when the connection is lost; only its input ends.
func (n *node) ExecInContainer(name string, uid types.UID, container string, command []string,
	in io.Reader, out, err io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize,
	timeout time.Duration) error {
	n.lock.Lock()
	first := n.pods[uid]
	n.lock.Unlock()
	if first == nil {
		return fmt.Errorf("container not running (%s)", container)
	}
	target := strconv.Itoa(first.Process.Pid)
	enter := []string{"--target", target, "--mount", "--pid", "--uts", "--ipc", "--net", "--"}
	process := exec.Command("nsenter", append(enter, command...)...)
	process.Env = []string{"PATH=/usr/bin", "HOSTNAME=" + name}
	process.Stdout, process.Stderr = out, err
	if in != nil {
		to, fault := process.StdinPipe()
		if fault != nil {
			return fault
		}
		// The process may end before its input does.
		go func() {
			defer to.Close()
			io.Copy(to, in)
		}()
	}
	ended := process.Run()
	if process.ProcessState != nil && ended != nil {
		return utilexec.CodeExitError{Err: ended, Code: code(process)}
	}
	return ended
}
