"""The stand-in of the random provider: RandomPassword, RandomBytes, RandomId and RandomPet."""

VERSION = "4.21.4"
