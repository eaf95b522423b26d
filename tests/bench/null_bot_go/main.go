// A null bot: it answers every decision at once with action 0, so that a measurement with it is one
// of the arena. It reads nothing of a frame but the ids of its decisions.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
)

const (
	method      = "/botarena.v1.BotService/Play"
	protocol    = 1
	concurrency = 1024
	// A frame with a decision of every match may be larger than the 4 MiB that gRPC takes by default.
	maxFrameBytes = 16 << 20
	// Windows of a fixed size spare the pings by which gRPC would look for a better one.
	windowBytes = 1 << 20
)

// Numbers of the fields that are read or written, as bot.proto has them.
const (
	fromBotHello       = 1
	fromBotReplies     = 2
	fromArenaDecisions = 3
	helloProtocol      = 1
	helloSdk           = 2
	helloSdkVersion    = 3
	helloConcurrency   = 5
	decisionID         = 1
	replyDecision      = 1
	replyAction        = 2
)

func main() {
	// The bot shares one core with the arena and other bots: there is none for a second thread.
	runtime.GOMAXPROCS(1)
	if err := play(os.Getenv("ARENA_ADDR"), os.Getenv("ARENA_TOKEN")); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// play answers until the arena hangs up. SIGTERM is left to the runtime, which ends the process at once.
func play(address, token string) error {
	if address == "" || token == "" {
		return errors.New("ARENA_ADDR and ARENA_TOKEN are not set; the arena sets them for the bots that it starts")
	}
	connection, err := grpc.NewClient(
		address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithInitialWindowSize(windowBytes),
		grpc.WithInitialConnWindowSize(windowBytes),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(raw{}), grpc.MaxCallRecvMsgSize(maxFrameBytes)),
	)
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx := metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+token)
	description := &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}
	stream, err := connection.NewStream(ctx, description, method)
	if err != nil {
		return err
	}
	return converse(stream)
}

// converse says hello and answers frame by frame; nil if it was let in and the arena hung up.
func converse(stream grpc.ClientStream) error {
	// That sending fails is told again, with the reason, by the next read: its errors are those that count.
	_ = stream.SendMsg(hello())
	for greeted := false; ; greeted = true {
		var frame []byte
		if err := stream.RecvMsg(&frame); err != nil {
			if greeted && hungUp(err) {
				return nil
			}
			return err
		}
		replies, err := answer(frame)
		if err != nil {
			return err
		}
		if len(replies) > 0 {
			_ = stream.SendMsg(replies)
		}
	}
}

// hungUp tells whether an error of reading only says that the arena closed the stream or is gone.
func hungUp(err error) bool {
	code := status.Code(err)
	return errors.Is(err, io.EOF) || code == codes.Unavailable || code == codes.Canceled
}

// hello is the first frame.
func hello() []byte {
	var body []byte
	body = appendUint(body, helloProtocol, protocol)
	body = appendBytes(body, helloSdk, []byte("null-bot-go"))
	body = appendBytes(body, helloSdkVersion, []byte("1"))
	body = appendUint(body, helloConcurrency, concurrency)
	return appendBytes(nil, fromBotHello, body)
}

// answer is one frame with a reply to every decision of a frame; empty where there is none.
func answer(frame []byte) ([]byte, error) {
	var replies, reply []byte
	for len(frame) > 0 {
		number, value, rest, err := field(frame)
		if err != nil {
			return nil, err
		}
		frame = rest
		if number != fromArenaDecisions {
			continue
		}
		id, err := idOf(value)
		if err != nil {
			return nil, err
		}
		reply = appendUint(reply[:0], replyDecision, id)
		reply = appendUint(reply, replyAction, 0)
		replies = appendBytes(replies, fromBotReplies, reply)
	}
	return replies, nil
}

// idOf reads the id out of the field of a decision.
func idOf(value []byte) (uint64, error) {
	decision, size := protowire.ConsumeBytes(value)
	if size < 0 {
		return 0, protowire.ParseError(size)
	}
	for len(decision) > 0 {
		number, value, rest, err := field(decision)
		if err != nil {
			return 0, err
		}
		if number == decisionID {
			id, size := protowire.ConsumeVarint(value)
			if size < 0 {
				return 0, protowire.ParseError(size)
			}
			return id, nil
		}
		decision = rest
	}
	return 0, nil // what is not written is 0
}

// field takes the first field off a message: its number, its encoded value, and what follows it.
func field(message []byte) (number protowire.Number, value, rest []byte, err error) {
	number, kind, tag := protowire.ConsumeTag(message)
	if tag < 0 {
		return 0, nil, nil, protowire.ParseError(tag)
	}
	size := protowire.ConsumeFieldValue(number, kind, message[tag:])
	if size < 0 {
		return 0, nil, nil, protowire.ParseError(size)
	}
	return number, message[tag : tag+size], message[tag+size:], nil
}

func appendUint(message []byte, number protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(message, number, protowire.VarintType), value)
}

func appendBytes(message []byte, number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(message, number, protowire.BytesType), value)
}

// raw is the codec that leaves frames as they are: []byte out, *[]byte in.
type raw struct{}

// Name is that of the content type which the arena expects.
func (raw) Name() string { return "proto" }

func (raw) Marshal(message any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(message.([]byte))}, nil
}

func (raw) Unmarshal(data mem.BufferSlice, message any) error {
	*message.(*[]byte) = data.Materialize()
	return nil
}
